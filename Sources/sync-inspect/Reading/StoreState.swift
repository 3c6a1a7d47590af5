// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreLMDB
import StoreSQLite
import SyncCore

/// What the program reads from a store, in one snapshot.
struct StoreState: Sendable {
    let file: String
    let format: Format
    let formatVersion: Int
    let catalog: TableCatalog
    /// The number of rows by table.
    let rowCounts: [String: Int]
    /// The operation queue, in its order.
    let operations: [TableOperation]
    /// The items by operation id. An item that was deleted has none.
    let items: [Int64: Item]
    /// Why an item cannot be read, by operation id: an app may have stored another value in its own table.
    let unreadableItems: [Int64: String]
    /// The later operations of the same item by operation id, in the order of the queue.
    let operationsBehind: [Int64: [TableOperation]]
    /// The error log, in the order of the queue.
    let errors: [TableOperationError]
    let configValues: [(key: ConfigKey, value: String)]

    /// The database that the file belongs to.
    enum Format: String, Sendable, Encodable {
        case sqlite, lmdb
    }

    /// Reads the file, whose format its content tells.
    ///
    /// - Throws: ``StoreError``.
    init(file: String) throws {
        // Stores refuse links, but an app may open its own database through one. Its log is beside the target.
        let path = URL(filePath: file).resolvingSymlinksInPath().path
        let header = try Self.header(of: path)
        if SQLiteStore.recognizes(header: header) {
            self = try SQLiteStore.inspect(path: path) { try StoreState(file: file, .sqlite, $0) }
        } else if LMDBStore.recognizes(header: header) {
            self = try LMDBStore.inspect(path: path) { try StoreState(file: file, .lmdb, $0) }
        } else {
            throw StoreError(.corrupt, "'\(file)' is neither an SQLite database nor an LMDB file.")
        }
    }

    private init(file: String, _ format: Format, _ contents: StoreContents) throws {
        let (snapshot, catalog) = (contents.snapshot, contents.catalog)
        (self.file, self.format, self.catalog) = (file, format, catalog)
        formatVersion = contents.formatVersion
        rowCounts = try catalog.tables.reduce(into: [:]) { counts, table in
            let query = TableQuery(table.name).limit(0).includingTotalCount()
            counts[table.name] = try snapshot.items(matching: query).totalCount
        }
        operations = try snapshot.operations(after: 0, in: nil, limit: .max)
        errors = try snapshot.operationErrors(in: nil)
        var unreadable: [Int64: String] = [:]
        items = try operations.reduce(into: [:]) { items, operation in
            guard (try? catalog.table(named: operation.table)) != nil else { return }
            do {
                items[operation.id] = try snapshot.item(id: operation.itemID, in: operation.table)
            } catch let error as StoreError where error.code == .corrupt {
                unreadable[operation.id] = error.message
            }
        }
        unreadableItems = unreadable
        // Strings as keys would not distinguish canonically equivalent ids.
        let queues = Dictionary(grouping: operations) { Array("\($0.table)\0\($0.itemID)".utf8) }
        operationsBehind = queues.values.reduce(into: [:]) { behind, queue in
            for (index, operation) in queue.enumerated() {
                behind[operation.id] = Array(queue[(index + 1)...])
            }
        }
        let tables = [""] + catalog.tables.map(\.name) + operations.map(\.table) + errors.map(\.table)
        configValues = try Set(tables.map(UTF8Text.init)).sorted().flatMap { table in
            try ConfigKey.Kind.allCases.flatMap { try snapshot.configValues(in: table.text, kind: $0) }
        }
    }

    /// Returns the first bytes of the file.
    private static func header(of file: String) throws(StoreError) -> [UInt8] {
        do {
            let attributes = try FileManager.default.attributesOfItem(atPath: file)
            // Opening a pipe waits for a writer.
            guard attributes[.type] as? FileAttributeType == .typeRegular else {
                throw StoreError(.cannotOpen, "'\(file)' is not a regular file.")
            }
            let handle = try FileHandle(forReadingFrom: URL(filePath: file))
            defer { try? handle.close() }
            return try handle.read(upToCount: 4096).map(Array.init) ?? []
        } catch let error as StoreError {
            throw error
        } catch {
            throw StoreError(.cannotOpen, "'\(file)' cannot be read: \(error.localizedDescription)")
        }
    }
}
