// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import SyncCore

/// A store on any ``OrderedMap``: supply get, put, delete and scan, and get the rest.
///
/// ```swift
/// let store = try OrderedMapStore(
///     MyMap(path: "todo.map"), tables: [TodoItem.definition],
///     capabilities: StoreCapabilities(
///         isDurable: true, hasConcurrentReaders: false, isMultiProcess: false, usesIndexes: false))
/// ```
///
/// Reads of one item, of operations and of their counts take a few lookups, independent of the amount of data. A query
/// reads the items of its table in the order of ids and stops as early as possible; a query by ids looks the ids up.
/// With ``StoreCapabilities/usesIndexes``, the store maintains an index of each column that is declared as indexed, and
/// a query that compares such a column with a constant reads only the matching range.
///
/// Openings of a map of several processes may declare different columns, for example during an update of the app: the app's
/// changes keep the values of the others. Only openings with the columns of the last one push and pull: a push completes an
/// operation without the edits of columns that its opening does not declare. The last opening determines the indexes. Each
/// transaction reads one key more.
public struct OrderedMapStore: SyncContextDataSource {
    /// The tables the store was opened with.
    public let catalog: TableCatalog
    /// The capabilities that the map was declared with.
    public let capabilities: StoreCapabilities
    private let map: any OrderedMap
    private let keys: LongKeys
    /// The columns and indexes of the map when this store opened it.
    private let openedColumns: StoredColumns
    /// The columns and indexes that other openings may change; `nil` in a map of one process.
    private let sharedColumns: SharedColumns?
    private let decodedOperations = DecodedOperations()

    /// Opens a store on the map, which must be empty or written by an ``OrderedMapStore``.
    ///
    /// - Throws: ``SyncError/Code/invalidTableDefinition``; ``StoreError/Code/corrupt`` when the map contains other
    ///   data, ``StoreError/Code/newerFormat`` when a newer version wrote it,
    ///   ``StoreError/Code/schemaMismatch`` when a stored column has another type;
    ///   ``StoreError/Code/unsupported`` when the map's maximum key length is less than 32 bytes.
    public init(
        _ map: any OrderedMap, tables: [SyncTableDefinition], capabilities: StoreCapabilities
    ) throws {
        guard map.maxKeyLength >= 32 else {
            throw StoreError(
                .unsupported,
                "OrderedMapStore needs keys of at least 32 bytes; this map supports \(map.maxKeyLength).")
        }
        self.map = map
        self.capabilities = capabilities
        catalog = try TableCatalog(tables)
        keys = LongKeys(maxKeyLength: map.maxKeyLength)
        let opened = try OrderedMapPreparation(catalog: catalog, keys: keys, capabilities: capabilities)
            .prepare(map)
        openedColumns = opened.columns
        sharedColumns = capabilities.isMultiProcess ? SharedColumns(opened) : nil
    }

    /// Runs the body on a snapshot of the map.
    public func read<T>(_ body: (any StoreSnapshot) throws -> T) throws -> T {
        try map.read { try body(reader($0)) }
    }

    /// Runs the body in a transaction of the map.
    public func write<T>(_ body: (any StoreTransaction) throws -> T) throws -> T {
        try map.write { transaction in
            let writer = try writer(transaction)
            let result = try body(writer)
            try writer.writeNumbers()
            return result
        }
    }

    /// Closes the map.
    public func close() throws { try map.close() }

    private func reader(_ snapshot: any OrderedMapSnapshot) throws -> OrderedMapReader {
        var reader = OrderedMapReader(
            map: snapshot, keys: keys, catalog: catalog, storedColumns: openedColumns,
            decodedOperations: decodedOperations)
        if let sharedColumns { reader.storedColumns = try sharedColumns.columns(in: reader) }
        return reader
    }

    private func writer(_ transaction: any OrderedMapTransaction) throws -> OrderedMapWriter {
        var writer = OrderedMapWriter(
            transaction: transaction, keys: keys, catalog: catalog, maxIDLength: capabilities.maxIDLength,
            storedColumns: openedColumns, decodedOperations: decodedOperations)
        if let sharedColumns { writer.storedColumns = try sharedColumns.columns(in: writer) }
        return writer
    }
}
