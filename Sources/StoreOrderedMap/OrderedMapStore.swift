// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import SyncCore

/// A store on any ``OrderedMap``: supply get, put, delete and scan, and everything else is here.
///
/// ```swift
/// let store = try OrderedMapStore(
///     MyMap(path: "todo.map"), tables: [TodoItem.definition],
///     capabilities: StoreCapabilities(
///         isDurable: true, hasConcurrentReaders: false, isMultiProcess: false, usesIndexes: false))
/// ```
///
/// Reads of one item, of operations and of their counts take a few lookups, however much is stored. A query reads the
/// items of its table in order of id, only as far as it must; one for given ids looks them up. With
/// ``StoreCapabilities/usesIndexes`` it keeps an index of each column that is declared as indexed, and queries that
/// compare such a column with constants read no more than the range they name.
public struct OrderedMapStore: SyncContextDataSource {
    /// The tables the store was opened with.
    public let catalog: TableCatalog
    /// What the map was declared to be capable of.
    public let capabilities: StoreCapabilities
    private let map: any OrderedMap
    private let keys: LongKeys
    private let hiddenColumns: HiddenColumns

    /// Makes a store of the map, which must be empty or hold what such a store left in it.
    ///
    /// - Throws: ``SyncError/Code/invalidTableDefinition``; ``StoreError/Code/corrupt`` when the map holds something
    ///   else, ``StoreError/Code/newerFormat`` when a newer version wrote it,
    ///   ``StoreError/Code/schemaMismatch`` when a column had another type;
    ///   ``StoreError/Code/unsupported`` when the map's keys are too short to work with.
    public init(
        _ map: any OrderedMap, tables: [SyncTableDefinition], capabilities: StoreCapabilities
    ) throws {
        guard map.maxKeyLength >= 32 else {
            throw StoreError(
                .unsupported, "A map must take keys of 32 bytes; this one takes \(map.maxKeyLength).")
        }
        self.map = map
        self.capabilities = capabilities
        catalog = try TableCatalog(tables)
        keys = LongKeys(maxKeyLength: map.maxKeyLength)
        hiddenColumns = try OrderedMapPreparation(
            catalog: catalog, keys: keys, usesIndexes: capabilities.usesIndexes,
            maxIDLength: capabilities.maxIDLength
        ).prepare(map)
    }

    /// Runs the body on a snapshot of the map.
    public func read<T>(_ body: (any StoreSnapshot) throws -> T) throws -> T {
        try map.read { try body(reader($0)) }
    }

    /// Runs the body in a transaction of the map.
    public func write<T>(_ body: (any StoreTransaction) throws -> T) throws -> T {
        try map.write { transaction in
            let writer = writer(transaction)
            let result = try body(writer)
            try writer.writeNumbers()
            return result
        }
    }

    /// Closes the map.
    public func close() throws { try map.close() }

    private func reader(_ snapshot: any OrderedMapSnapshot) -> OrderedMapReader {
        OrderedMapReader(
            map: snapshot, keys: keys, catalog: catalog, usesIndexes: capabilities.usesIndexes,
            hiddenColumns: hiddenColumns)
    }

    private func writer(_ transaction: any OrderedMapTransaction) -> OrderedMapWriter {
        OrderedMapWriter(
            transaction: transaction, keys: keys, catalog: catalog, usesIndexes: capabilities.usesIndexes,
            maxIDLength: capabilities.maxIDLength, hiddenColumns: hiddenColumns)
    }
}
