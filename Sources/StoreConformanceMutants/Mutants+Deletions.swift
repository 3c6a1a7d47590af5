// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreConformance
import SyncCore

extension StoreMutant {
    /// Errors in deletes.
    @MutantList static var deletions: [StoreMutant] {
        StoreMutant(
            .delete, "nothing", "A delete does nothing.", killedBy: "delete.ids.removes", "delete.ids.again",
            "query.fresh-delete", message: "the first"
        ) { flaw in
            flaw.deleteIDs = { [hits = flaw.hits] _, _, _ in hits.hit() }
        }
        StoreMutant(
            .delete, "first", "Only the first of several ids is deleted.", killedBy: "delete.ids.removes",
            "delete.ids.missing", "size.delete-40k", message: "the first"
        ) { flaw in
            flaw.deleteIDs = { [hits = flaw.hits] transaction, ids, table in
                if ids.count > 1 { hits.hit() }
                try transaction.deleteItems(ids: Array(ids.prefix(1)), in: table)
            }
        }
        StoreMutant(
            .delete, "prefix", "A delete removes all items whose ids have the given id as prefix.",
            killedBy: "delete.ids.exact", "item.table.separator", message: "the remaining ids"
        ) { flaw in
            flaw.deleteIDs = { [hits = flaw.hits] transaction, ids, table in
                for id in ids {
                    let more = try transaction.items(
                        matching: TableQuery(table).where(.hasPrefix(.column("id"), id))
                    )
                    .items.map(\.id)
                    if more.count > 1 { hits.hit() }
                    try transaction.deleteItems(ids: more, in: table)
                    if table == "Thing2" { try transaction.deleteItems(ids: ["2" + id], in: "Thing") }
                }
            }
        }
        StoreMutant(
            .delete, "canonical", "A delete removes items with canonically equivalent ids.",
            killedBy: "delete.ids.exact",
            message: "the remaining ids"
        ) { flaw in
            flaw.deleteIDs = { [hits = flaw.hits] transaction, ids, table in
                let all = try transaction.items(matching: TableQuery(table)).items.map(\.id)
                let same = all.filter { ids.contains($0) }
                if same.count > ids.count { hits.hit() }
                try transaction.deleteItems(ids: same, in: table)
            }
        }
        StoreMutant(
            .delete, "all-tables", "A delete removes the id from every table.",
            killedBy: "delete.ids.own-table", "delete.query.own-table", message: "ids of Thing2"
        ) { flaw in
            flaw.deleteIDs = { [hits = flaw.hits] transaction, ids, _ in
                hits.hit()
                for table in Fixture.tables { try transaction.deleteItems(ids: ids, in: table.name) }
            }
            flaw.deleteMatching = { [hits = flaw.hits] transaction, query in
                hits.hit()
                let ids = try transaction.items(matching: query).items.map(\.id)
                for table in Fixture.tables { try transaction.deleteItems(ids: ids, in: table.name) }
                return ids.count
            }
        }
        StoreMutant(
            .delete, "missing-throws", "Deleting a missing id is an error.",
            killedBy: "delete.ids.missing", "delete.ids.again", message: "no error"
        ) { flaw in
            flaw.deleteIDs = { [hits = flaw.hits] transaction, ids, table in
                for id in ids where try transaction.item(id: id, in: table) == nil {
                    hits.hit()
                    throw StoreError(.inputOutput, "There is no item '\(id)'.")
                }
                try transaction.deleteItems(ids: ids, in: table)
            }
        }
        StoreMutant(
            .delete, "no-ids-all", "Deleting no ids deletes all items.", killedBy: "delete.ids.nothing",
            message: "deleting no ids"
        ) { flaw in
            flaw.deleteIDs = { [hits = flaw.hits] transaction, ids, table in
                if ids.isEmpty {
                    hits.hit()
                    _ = try transaction.deleteItems(matching: TableQuery(table))
                }
                try transaction.deleteItems(ids: ids, in: table)
            }
        }
        StoreMutant(
            .delete, "cut-at-999", "A delete stops after 999 ids.", killedBy: "delete.ids.many",
            "size.delete-40k", message: "the remaining ids of 1001"
        ) { flaw in
            flaw.deleteIDs = { [hits = flaw.hits] transaction, ids, table in
                if ids.count > 999 { hits.hit() }
                try transaction.deleteItems(ids: Array(ids.prefix(999)), in: table)
            }
        }
        StoreMutant(
            .delete, "queue-too", "A delete removes the item's operations.",
            killedBy: "delete.leaves-queue", message: "the queue"
        ) { flaw in
            flaw.deleteIDs = { [hits = flaw.hits] transaction, ids, table in
                try transaction.deleteItems(ids: ids, in: table)
                for id in ids {
                    for operation in try transaction.operations(forItem: id, in: table) {
                        hits.hit()
                        try transaction.removeOperation(id: operation.id)
                    }
                }
            }
        }
        StoreMutant(
            .delete, "matching-all", "A delete by query ignores the filter.",
            killedBy: "delete.query.matching", "delete.query.none", "delete.query.null",
            message: "the number of items removed"
        ) {
            $0.deletingMatching { $0.with { $0.filter = nil } }
        }
        StoreMutant(
            .delete, "matching-nothing", "A delete by query does nothing.", killedBy: "delete.query.all",
            "delete.query.matching", message: "the number of items removed"
        ) {
            $0.deletingMatching { $0.where(.always(false)) }
        }
        StoreMutant(
            .delete, "matching-window", "A delete by query ignores its window.",
            killedBy: "delete.query.window", "delete.query.limit", "delete.query.offset",
            "delete.query.limit-zero", message: "the number of items removed"
        ) {
            $0.deletingMatching { $0.with { ($0.limit, $0.offset) = (nil, 0) } }
        }
        StoreMutant(
            .delete, "matching-order", "A delete by query ignores its order.",
            killedBy: "delete.query.window", message: "the remaining ids"
        ) {
            $0.deletingMatching { $0.with { $0.orderings = [] } }
        }
        StoreMutant(
            .delete, "matching-count", "A delete by query returns the count 0.",
            killedBy: "delete.query.matching", message: "the number of items removed"
        ) { flaw in
            flaw.deleteMatching = { [hits = flaw.hits] transaction, query in
                hits.changing(try transaction.deleteItems(matching: query), to: 0)
            }
        }
    }
}

extension StoreFlaw {
    fileprivate mutating func deletingMatching(_ change: @escaping @Sendable (TableQuery) -> TableQuery) {
        deleteMatching = { [hits] transaction, query in
            if try transaction.items(matching: query) != transaction.items(matching: change(query)) {
                hits.hit()
            }
            return try transaction.deleteItems(matching: change(query))
        }
    }
}
