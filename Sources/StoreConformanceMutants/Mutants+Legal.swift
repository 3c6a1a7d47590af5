// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
@_spi(StoreAuthor) import SyncCore

extension StoreMutant {
    /// Unusual stores that conform to the contract: every rule must pass.
    @MutantList public static var variants: [StoreMutant] {
        legal("slow", "Every transaction is slow.") { flaw in
            flaw.write = { [hits = flaw.hits] base, body in
                hits.hit()
                Thread.sleep(forTimeInterval: 0.0002)
                try base.write(body)
            }
        }
        legal("distant", "Every read takes a millisecond longer, as on a server.") { flaw in
            flaw.read = { [hits = flaw.hits] base, body in
                hits.hit()
                Thread.sleep(forTimeInterval: 0.001)
                try base.read(body)
            }
        }
        legal("other-words", "Errors have other messages and a cause.") { flaw in
            flaw.read = { [hits = flaw.hits] base, body in
                do { try base.read(body) } catch let error as StoreError {
                    hits.hit()
                    throw StoreError(error.code, "Reads are not possible after close.", cause: error)
                }
            }
        }
        legal("copies", "Every item that is read is encoded and decoded.") { flaw in
            flaw.changingReadItem { [hits = flaw.hits] item in
                hits.hit()
                return (try? Item(storedJSON: item.storedJSON)) ?? item
            }
        }
        legal("one-by-one", "An upsert of several items is several upserts.") { flaw in
            flaw.upsert = { [hits = flaw.hits] transaction, items, table in
                hits.hit()
                try transaction.upsert([], in: table)
                for item in items { try transaction.upsert([item], in: table) }
            }
        }
        legal("chunks", "A delete of several ids is several deletes, in another order.") { flaw in
            flaw.deleteIDs = { [hits = flaw.hits] transaction, ids, table in
                hits.hit()
                try transaction.deleteItems(ids: [], in: table)
                for id in Set(ids.map(UTF8Text.init)) {
                    try transaction.deleteItems(ids: [id.text], in: table)
                }
            }
        }
        legal("writes-twice", "An upsert writes the items twice.") { flaw in
            flaw.upsert = { [hits = flaw.hits] transaction, items, table in
                hits.hit()
                try transaction.upsert(items, in: table)
                try transaction.upsert(items, in: table)
            }
        }
        legal("deletes-by-id", "A delete by query reads the ids and deletes them.") { flaw in
            flaw.deleteMatching = { [hits = flaw.hits] transaction, query in
                hits.hit()
                let ids = try transaction.items(matching: query).items.map(\.id)
                try transaction.deleteItems(ids: ids, in: query.table)
                return ids.count
            }
        }
        legal("scans", "Every query reads the whole table and filters in memory.") { flaw in
            flaw.capabilities = { capabilities in
                var changed = capabilities
                changed.usesIndexes = false
                return changed
            }
            flaw.items = { [hits = flaw.hits] snapshot, query in
                hits.hit()
                return query.apply(to: try snapshot.items(matching: TableQuery(query.table)).items.shuffled())
            }
        }
        legal("own-thread", "Every read by id reads twice.") { flaw in
            flaw.item = { [hits = flaw.hits] snapshot, id, table in
                hits.hit()
                _ = try snapshot.item(id: id, in: table)
                return try snapshot.item(id: id, in: table)
            }
        }
        legal("one-at-a-time", "Reads and writes are serialized, and concurrent readers are not declared.") {
            flaw in
            let lock = NSLock()
            flaw.declare { $0.hasConcurrentReaders = false }
            flaw.read = { base, body in
                lock.lock()
                defer { lock.unlock() }
                try base.read(body)
            }
            flaw.write = { base, body in
                lock.lock()
                defer { lock.unlock() }
                try base.write(body)
            }
        }
        legal("limited-ids", "Ids have at most 1020 bytes; longer ones are refused.") { flaw in
            flaw.declare { $0.maxIDLength = 1020 }
            flaw.upsert = { transaction, items, table in
                for item in items where item.id.utf8.count > 1020 {
                    throw StoreError(.unsupported, "The id has more than 1020 bytes.")
                }
                try transaction.upsert(items, in: table)
            }
        }
        legal("modest", "A durable store does not declare that it is durable.") { flaw in
            flaw.declare { $0.isDurable = false }
        }
        legal("removes-before-put", "An operation that is put again is removed first.") { flaw in
            flaw.putOperation = { [hits = flaw.hits] transaction, operation in
                hits.hit()
                try transaction.removeOperation(id: operation.id)
                try transaction.put(operation)
            }
        }
        legal("pages", "A query reads its result in pages.") { flaw in
            flaw.items = { [hits = flaw.hits] snapshot, query in
                guard query.limit == nil else { return try snapshot.items(matching: query) }
                hits.hit()
                var items: [Item] = []
                while true {
                    let page = try snapshot.items(
                        matching: query.with { ($0.limit, $0.offset) = (700, query.offset + items.count) })
                    items += page.items
                    if page.items.count < 700 {
                        return QueryResult(items: items, totalCount: page.totalCount)
                    }
                }
            }
        }
        legal("remembers-itself", "Every write stores a private setting.") { flaw in
            flaw.write = { [hits = flaw.hits] base, body in
                try base.write { transaction in
                    try body(transaction)
                    hits.hit()
                    try transaction.setConfigValue(
                        "now", for: ConfigKey(table: "\u{1}own", kind: .setting, name: "time"))
                }
            }
        }
        legal("on-server", "Writes fail when the connection to a server is lost.") { flaw in
            flaw.useServer()
            flaw.countOpenings()
        }
        legal("runs-again", "A write of which nothing was committed runs again.") { flaw in
            flaw.useServer { interruption in
                switch interruption {
                case .lostInWrite, .commit(.rolledBack): .runningAgain
                case .commit: .throwing(.outcomeUnknown)
                }
            }
            flaw.countOpenings()
        }
        StoreMutant(
            .legal, "by-turns",
            "Several openings share a store that each has open during its transactions only; writes without changes count.",
            killers: [], message: "", needsDurableStore: true
        ) { flaw in
            flaw.shareByTurns()
        }
        legal("strict-ids", "Operations, errors and lookups of operations with invalid item ids are refused.")
        { flaw in
            let check: @Sendable (String, MutantHits) throws -> Void = { id, hits in
                hits.hit()
                do { try ItemID.validate(id) } catch {
                    throw StoreError(.unsupported, "The item id is invalid.", cause: error)
                }
            }
            flaw.putOperation = { [hits = flaw.hits] transaction, operation in
                try check(operation.itemID, hits)
                try transaction.put(operation)
            }
            flaw.operationsOfItem = { [hits = flaw.hits] snapshot, id, table in
                try check(id, hits)
                return try snapshot.operations(forItem: id, in: table)
            }
            flaw.putError = { [hits = flaw.hits] transaction, error in
                try check(error.itemID, hits)
                try transaction.put(error)
            }
        }
        legal(
            "slow-reconnect", "After a lost connection, many calls fail before the store is connected again."
        ) {
            flaw in
            flaw.useServer()
            let write = flaw.write
            let (losses, refusals) = (Shared(flaw.server.state.losses), Shared(0))
            let check: @Sendable (MutantServer, MutantHits) throws -> Void = { server, hits in
                let now = server.state.losses
                if losses.value != now {
                    losses.change { $0 = now }
                    refusals.change { $0 = 100 }
                }
                guard refusals.value > 0 else { return }
                refusals.change { $0 -= 1 }
                hits.hit()
                throw StoreError(.unavailable, "The store is connecting; try again later.")
            }
            flaw.read = { [server = flaw.server, hits = flaw.hits] base, body in
                try check(server, hits)
                try base.read(body)
            }
            flaw.write = { [server = flaw.server, hits = flaw.hits] base, body in
                try check(server, hits)
                try write?(base, body) ?? base.write(body)
            }
            flaw.countOpenings()
        }
        legal("limited-space", "A small store refuses upserts after a megabyte of text.") { flaw in
            flaw.limitSpace()
            flaw.countOpenings()
        }
        legal("app-tables", "A constraint refuses items, and the store's own commits are reported too.") {
            flaw in
            flaw.refuseItems()
            flaw.reportAppCommits()
            flaw.write = { [hits = flaw.hits, app = flaw.app] base, body in
                try base.write(body)
                hits.hit()
                app.report()
            }
        }
        legal("careful-close", "Close reads the queue first.") { flaw in
            flaw.close = { [hits = flaw.hits] base in
                hits.hit()
                _ = try? base.read { try $0.operations(after: 0, in: nil, limit: .max) }
                try base.close()
            }
        }
    }

    private static func legal(
        _ name: String, _ variation: String, _ build: @escaping @Sendable (inout StoreFlaw) -> Void
    ) -> StoreMutant {
        StoreMutant(.legal, name, variation, killers: [], message: "", build)
    }
}

extension StoreFlaw {
    /// Counts each opening as an effect of the variation.
    fileprivate mutating func countOpenings() {
        let open = openBase
        openBase = { [hits] base, path, tables in
            hits.hit()
            return try open?(base, path, tables) ?? base.open(at: path, tables: tables)
        }
    }
}
