// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

extension StoreMutant {
    /// Stores that threads should not share.
    @MutantList static var concurrencies: [StoreMutant] {
        StoreMutant(
            .concurrency, "lost-updates", "Bodies of writes run beside each other, and their changes are made afterwards.",
            killedBy: "concurrent.no-lost-updates", "concurrent.one-writer", "concurrent.operation-ids", "concurrent.delete-and-put",
            saying: "the count after 8 times 25 increments"
        ) { flaw in
            flaw.write = { [hits = flaw.hits] base, body in
                hits.hit()
                let changes = try RecordingTransaction.changes(of: body, on: base)
                try base.write { for change in changes { try change($0) } }
            }
        }
        StoreMutant(.concurrency, "two-writers", "Bodies of writes run at the same time.", killedBy: "concurrent.one-writer", saying: "the most bodies of writes at one time") { flaw in
            flaw.write = { [hits = flaw.hits] base, body in
                hits.hit()
                let changes = try RecordingTransaction.changes(of: body, on: base)
                try base.write { for change in changes { try change($0) } }
            }
        }
        StoreMutant(.concurrency, "dirty-reads", "A transaction is committed in two halves.", killedBy: "concurrent.whole-transactions", saying: "a bank") { flaw in
            let turn = NSLock()
            flaw.write = { [hits = flaw.hits] base, body in
                turn.lock()
                defer { turn.unlock() }
                hits.hit()
                let changes = try RecordingTransaction.changes(of: body, on: base)
                for change in changes {
                    try base.write { try change($0) }
                    Thread.sleep(forTimeInterval: 0.0002)
                }
            }
        }
        StoreMutant(.concurrency, "moving-snapshot", "A snapshot follows the writes.", killedBy: "concurrent.snapshot", saying: "what the read sees after them") { flaw in
            flaw.read = { [hits = flaw.hits] base, body in
                hits.hit()
                try body(LiveSnapshot(store: base))
            }
        }
        StoreMutant(.concurrency, "readers-wait", "A read waits for the write.", killedBy: "concurrent.reader-beside-writer", "concurrent.snapshot", saying: "while the write was running") { flaw in
            let turn = NSLock()
            flaw.read = { [hits = flaw.hits] base, body in
                hits.hit()
                turn.lock()
                defer { turn.unlock() }
                try base.read(body)
            }
            flaw.write = { base, body in
                turn.lock()
                defer { turn.unlock() }
                try base.write(body)
            }
        }
        StoreMutant(.concurrency, "lagging-reads", "A read sees a write a moment later.", killedBy: "concurrent.read-your-writes", saying: "behind") { flaw in
            let old = Shared<[String: Item]>([:])
            flaw.upsert = { transaction, items, table in
                for item in items {
                    if let before = try transaction.item(id: item.id, in: table) { old.change { $0[item.id] = before } }
                }
                try transaction.upsert(items, in: table)
            }
            let count = Shared(0)
            flaw.item = { [hits = flaw.hits] snapshot, id, table in
                count.change { $0 += 1 }
                let right = try snapshot.item(id: id, in: table)
                return count.value % 3 == 0 ? hits.changing(right, to: old.value[id] ?? right) : right
            }
        }
        StoreMutant(.concurrency, "failures-spread", "A write that fails undoes the one before it.", killedBy: "concurrent.failed-writes", "transaction.rollback", saying: "how many items") { flaw in
            let last = Shared<[String]>([])
            flaw.upsert = { transaction, items, table in
                last.change { $0 = items.map(\.id) }
                try transaction.upsert(items, in: table)
            }
            let committed = Shared<[String]>([])
            flaw.write = { [hits = flaw.hits] base, body in
                do {
                    try base.write(body)
                    committed.change { $0 = last.value }
                } catch {
                    hits.hit()
                    try base.write { try $0.deleteItems(ids: committed.value, in: "Thing") }
                    throw error
                }
            }
        }
        StoreMutant(.concurrency, "shared-cursor", "Readers disturb each other.", killedBy: "concurrent.readers", saying: "results that differ") { flaw in
            let inside = Shared(0)
            flaw.items = { [hits = flaw.hits] snapshot, query in
                inside.change { $0 += 1 }
                defer { inside.change { $0 -= 1 } }
                Thread.sleep(forTimeInterval: 0.0005)
                let found = try snapshot.items(matching: query)
                guard inside.value > 1 else { return found }
                hits.hit()
                return QueryResult(items: found.items.dropLast(), totalCount: found.totalCount)
            }
        }
    }

    /// Stores whose errors mislead.
    @MutantList static var errors: [StoreMutant] {
        StoreMutant(.errors, "unknown-table-ignored", "An unknown table is an empty one.", killedBy: "query.unknown-table", saying: "reading an item of 'Nothing'") { flaw in
            flaw.item = { [hits = flaw.hits] snapshot, id, table in
                do { return try snapshot.item(id: id, in: table) } catch {
                    hits.hit()
                    return nil
                }
            }
        }
        StoreMutant(.errors, "upsert-ignored", "An upsert into an unknown table does nothing.", killedBy: "query.unknown-table", "error.partial", saying: "an upsert into 'Nothing'") { flaw in
            flaw.upsert = { [hits = flaw.hits] transaction, items, table in
                do { try transaction.upsert(items, in: table) } catch { hits.hit() }
            }
        }
        StoreMutant(.errors, "empty-unchecked", "An empty upsert is not checked.", killedBy: "query.unknown-table", saying: "an empty upsert into 'Nothing'") { flaw in
            flaw.upsert = { [hits = flaw.hits] transaction, items, table in
                if items.isEmpty { hits.hit() } else { try transaction.upsert(items, in: table) }
            }
        }
        StoreMutant(.errors, "other-type", "An unknown table is a store error.", killedBy: "query.unknown-table", saying: "SyncError of code -2003") { flaw in
            flaw.item = { [hits = flaw.hits] snapshot, id, table in
                do { return try snapshot.item(id: id, in: table) } catch is SyncError {
                    hits.hit()
                    throw StoreError(.inputOutput, "There is no table '\(table)'.")
                }
            }
        }
        StoreMutant(.errors, "stays-failed", "After a write that failed, every other fails.", killedBy: "transaction.rollback.then-write", "error.usable", "fault.interleaved", saying: "no error") { flaw in
            let hasFailed = Shared(false)
            flaw.write = { [hits = flaw.hits] base, body in
                if hasFailed.value {
                    hits.hit()
                    throw StoreError(.inputOutput, "An earlier write failed.")
                }
                do { try base.write(body) } catch {
                    hasFailed.change { $0 = true }
                    throw error
                }
            }
        }
        StoreMutant(.errors, "mute", "Errors have no message.", killedBy: "error.message", saying: "The message") { flaw in
            flaw.read = { [hits = flaw.hits] base, body in
                do { try base.read(body) } catch let error as StoreError {
                    hits.hit()
                    throw StoreError(error.code, "")
                }
            }
        }
        StoreMutant(.errors, "poisoned", "After an error in a body, the transaction refuses to go on.", killedBy: "error.swallowed", saying: "no error") { flaw in
            let isPoisoned = Shared(false)
            flaw.write = { base, body in
                isPoisoned.change { $0 = false }
                try base.write(body)
            }
            flaw.item = { snapshot, id, table in
                do { return try snapshot.item(id: id, in: table) } catch {
                    isPoisoned.change { $0 = true }
                    throw error
                }
            }
            flaw.upsert = { [hits = flaw.hits] transaction, items, table in
                if isPoisoned.value {
                    hits.hit()
                    throw StoreError(.inputOutput, "The transaction has failed.")
                }
                try transaction.upsert(items, in: table)
            }
        }
        StoreMutant(.errors, "poisoned-read", "After an error in a read, the snapshot shows nothing.", killedBy: "error.empty-catch", saying: "the item") { flaw in
            let isPoisoned = Shared(false)
            flaw.read = { base, body in
                isPoisoned.change { $0 = false }
                try base.read(body)
            }
            flaw.item = { [hits = flaw.hits] snapshot, id, table in
                if isPoisoned.value { return hits.changing(try snapshot.item(id: id, in: table), to: nil) }
                do { return try snapshot.item(id: id, in: table) } catch {
                    isPoisoned.change { $0 = true }
                    throw error
                }
            }
        }
        StoreMutant(.errors, "count-forgotten", "After a refused read, the queue counts as empty.", killedBy: "fault.read", "queue.count", saying: "") { flaw in
            flaw.operationCount = { [hits = flaw.hits] snapshot, table in hits.changing(try snapshot.operationCount(in: table), to: 0) }
        }
    }

    /// Stores that are not apart.
    @MutantList static var isolations: [StoreMutant] {
        StoreMutant(.isolation, "one-for-all", "All stores are one.", killedBy: "isolation.stores", "open.many", saying: "the other") { flaw in
            flaw.openBase = { [hits = flaw.hits] base, path, tables in
                hits.hit()
                let parts = path.split(separator: "/")
                return try OneStore.open("/" + parts.dropLast(2).joined(separator: "/"), base, tables)
            }
            flaw.close = { _ in }
        }
        StoreMutant(.isolation, "closes-others", "Closing one store closes the others.", killedBy: "isolation.stores", saying: "closed") { flaw in
            flaw.openBase = { base, path, tables in
                let store = try base.open(at: path, tables: tables)
                StoreGroup.add(store, path)
                return store
            }
            flaw.close = { [hits = flaw.hits, path = flaw.path] base in
                hits.hit()
                try StoreGroup.closeAll(path)
                try base.close()
            }
        }
        StoreMutant(.isolation, "shared-ids", "Stores draw their operation ids together.", killedBy: "isolation.stores", saying: "the other's last operation id") { flaw in
            let directory = ((flaw.path as NSString).deletingLastPathComponent as NSString).deletingLastPathComponent
            flaw.putOperation = { transaction, operation in
                Files.make(directory + "/last-id", Data("\(operation.id)".utf8))
                try transaction.put(operation)
            }
            flaw.lastOperationID = { [hits = flaw.hits] transaction in
                let text = FileManager.default.contents(atPath: directory + "/last-id").map { String(decoding: $0, as: UTF8.self) }
                let last = try transaction.lastOperationID()
                return hits.changing(last, to: max(last, text.flatMap(Int64.init) ?? 0))
            }
        }
        StoreMutant(.isolation, "tables-bleed", "Items of one table are found in those beside it.", killedBy: "item.table.own", saying: "ids of Thing") { flaw in
            flaw.upsert = { [hits = flaw.hits] transaction, items, table in
                try transaction.upsert(items, in: table)
                hits.hit()
                for other in Fixture.tables { try transaction.upsert(items.map { Item(id: $0.id) }, in: other.name) }
                try transaction.upsert(items, in: table)
            }
        }
        StoreMutant(.isolation, "joined-keys", "Table and id are joined: '2a' of Thing is 'a' of Thing2.", killedBy: "item.table.separator", saying: "'a' of Thing2") { flaw in
            flaw.item = { [hits = flaw.hits] snapshot, id, table in
                let right = try snapshot.item(id: id, in: table)
                guard right == nil, table == "Thing2", let other = try snapshot.item(id: "2" + id, in: "Thing") else { return right }
                return hits.changing(right, to: Item(id: id, fields: other.fields))
            }
        }
    }

    /// Stores that declare what is not true.
    @MutantList static var capabilities: [StoreMutant] {
        declaring("changing", "Capabilities change after writing.", killedBy: "capability.constant", saying: "The capabilities after writing") { flaw in
            let writes = Shared(0)
            flaw.write = { base, body in
                writes.change { $0 += 1 }
                try base.write(body)
            }
            flaw.capabilities = { [hits = flaw.hits] capabilities in
                var changed = capabilities
                if writes.value > 0 {
                    hits.hit()
                    changed.usesIndexes.toggle()
                }
                return changed
            }
        }
        declaring("short-ids", "Ids may have 255 bytes.", killedBy: "capability.id-length", saying: "at least 1020") { flaw in
            flaw.declare { $0.maxIDLength = 255 }
        }
        declaring("longer-ids", "Longer ids than declared are taken.", killedBy: "capability.id-length.limit", saying: "an id that is one byte longer") { flaw in
            flaw.declare { $0.maxIDLength = 1020 }
            flaw.openBase = { base, path, tables in try base.open(at: path, tables: tables) }
        }
        declaring("unlimited-ids", "Ids of any length are declared, and long ones are cut.", killedBy: "capability.id-length.unlimited", saying: "an id of 1021 bytes") { flaw in
            flaw.declare { $0.maxIDLength = .max }
            flaw.storing { Item(id: String($0.id.unicodeScalars.prefix(255)), fields: $0.fields, system: $0.system) }
        }
        declaring("hidden-readers", "Readers beside the writer work, and are not declared.", killedBy: "concurrent.reader-beside-writer.undeclared", saying: "declare hasConcurrentReaders") { flaw in
            flaw.declare { $0.hasConcurrentReaders = false }
        }
        declaring("alleged-indexes", "Indexes are declared, and there are none.", killedBy: "capability.indexes.declared", saying: "less than half") { flaw in
            flaw.declare { $0.usesIndexes = true }
            flaw.items = { snapshot, query in query.apply(to: try snapshot.items(matching: TableQuery(query.table)).items) }
        }
        declaring("hidden-indexes", "Indexes are there, and are not declared.", killedBy: "capability.indexes.undeclared", saying: "declare usesIndexes") { flaw in
            flaw.declare { $0.usesIndexes = false }
            let ids = Shared<[String: String]>([:])
            flaw.upsert = { transaction, items, table in
                ids.change { ids in for item in items { if let mark = item["mark"]?.textValue { ids[mark] = item.id } } }
                try transaction.upsert(items, in: table)
            }
            flaw.items = { snapshot, query in
                guard case .comparison(.equal, .column("mark"), .constant(.text(let mark)))? = query.filter else { return try snapshot.items(matching: query) }
                let item = try ids.value[mark].flatMap { try snapshot.item(id: $0, in: query.table) }
                return QueryResult(items: item.map { [$0] } ?? [])
            }
        }
        declaring("alleged-sharing", "Sharing is declared, and every opening is another store.", killedBy: "capability.multi-process.shared", saying: "") { flaw in
            flaw.declare { $0.isMultiProcess = true }
            flaw.openBase = { base, path, tables in try base.open(at: "\(path)-\(UUID().uuidString)", tables: tables) }
        }
        declaring("shared-close", "Closing one opening closes all.", killedBy: "capability.multi-process.close", saying: "closed") { flaw in
            flaw.declare { $0.isMultiProcess = true }
            flaw.openBase = { base, path, tables in try OneStore.open(path, base, tables) }
        }
        declaring("second-opening", "A second opening shows the first one's items.", killedBy: "capability.multi-process.refused", saying: "the first's item") { flaw in
            flaw.declare { $0.isMultiProcess = false }
            flaw.openBase = { base, path, tables in try OneStore.open(path, base, tables) }
            flaw.close = { _ in }
        }
        declaring("lock-stays", "A closed store stays locked.", killedBy: "capability.multi-process.released", saying: "no error") { flaw in
            flaw.openBase = { [hits = flaw.hits] base, path, tables in
                if FileManager.default.fileExists(atPath: path + ".opened") {
                    hits.hit()
                    throw StoreError(.alreadyOpen, "The store is open.")
                }
                Files.make(path + ".opened")
                return try base.open(at: path, tables: tables)
            }
        }
        declaring("torn-undeclared", "A store that is not durable opens with half of a transaction.", killedBy: "capability.durable.undeclared", saying: "is one that the store had") { flaw in
            flaw.declare { $0.isDurable = false }
            flaw.openBase = { base, path, tables in
                let store = try base.open(at: path, tables: tables)
                if FileManager.default.fileExists(atPath: path + ".before") {
                    try store.write { try $0.upsert([Item(id: "i5")], in: "Thing") }
                }
                Files.make(path + ".before")
                return store
            }
        }
    }

    private static func declaring(
        _ name: String, _ flaw: String, killedBy killers: String..., saying message: String,
        _ build: @escaping @Sendable (inout StoreFlaw) -> Void
    ) -> StoreMutant {
        StoreMutant(.capability, name, flaw, killers: killers, saying: message, build)
    }
}

extension StoreFlaw {
    /// Declares something else than the base; that alone is a hit.
    mutating func declare(_ change: @escaping @Sendable (inout StoreCapabilities) -> Void) {
        capabilities = { [hits] capabilities in
            hits.hit()
            var changed = capabilities
            change(&changed)
            return changed
        }
    }
}

/// Asks the store anew for every answer.
private struct LiveSnapshot: StoreSnapshot {
    let store: any SyncContextDataSource

    func item(id: String, in table: String) throws -> Item? { try store.read { try $0.item(id: id, in: table) } }

    func items(matching query: TableQuery) throws -> QueryResult { try store.read { try $0.items(matching: query) } }

    func operation(id: Int64) throws -> TableOperation? { try store.read { try $0.operation(id: id) } }

    func operations(after id: Int64, in table: String?, limit: Int) throws -> [TableOperation] {
        try store.read { try $0.operations(after: id, in: table, limit: limit) }
    }

    func operations(forItem itemID: String, in table: String) throws -> [TableOperation] {
        try store.read { try $0.operations(forItem: itemID, in: table) }
    }

    func operationCount(in table: String?) throws -> Int { try store.read { try $0.operationCount(in: table) } }

    func operationError(operationID: Int64) throws -> TableOperationError? {
        try store.read { try $0.operationError(operationID: operationID) }
    }

    func operationErrors(in table: String?) throws -> [TableOperationError] {
        try store.read { try $0.operationErrors(in: table) }
    }

    func configValue(_ key: ConfigKey) throws -> String? { try store.read { try $0.configValue(key) } }

    func configValues(in table: String, kind: ConfigKey.Kind) throws -> [(key: ConfigKey, value: String)] {
        try store.read { try $0.configValues(in: table, kind: kind) }
    }
}

/// Stores that are opened once and given out again and again.
private enum OneStore {
    private static let stores = Shared<[String: any SyncContextDataSource]>([:])

    static func open(_ place: String, _ base: any StoreHarness, _ tables: [TableDefinition]) throws -> any SyncContextDataSource {
        if let store = stores.value[place] { return store }
        let store = try base.open(at: "\(place)/one-store", tables: tables)
        stores.change { $0[place] = store }
        return store
    }
}

/// Stores that are closed together.
private enum StoreGroup {
    private static let stores = Shared<[String: [any SyncContextDataSource]]>([:])

    private static func place(_ path: String) -> String {
        ((path as NSString).deletingLastPathComponent as NSString).deletingLastPathComponent
    }

    static func add(_ store: any SyncContextDataSource, _ path: String) {
        stores.change { $0[place(path), default: []].append(store) }
    }

    static func closeAll(_ path: String) throws {
        for store in stores.value[place(path)] ?? [] { try store.close() }
    }
}
