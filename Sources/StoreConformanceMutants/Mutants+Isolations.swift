// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import SyncCore

extension StoreMutant {
    /// Stores and tables that share data.
    @MutantList static var isolations: [StoreMutant] {
        StoreMutant(
            .isolation, "one-for-all", "All stores are the same store.", killedBy: "isolation.stores",
            "open.many",
            message: "the other"
        ) { flaw in
            flaw.openBase = { [hits = flaw.hits] base, path, tables in
                hits.hit()
                let parts = path.split(separator: "/")
                return try OneStore.open("/" + parts.dropLast(2).joined(separator: "/"), base, tables)
            }
            flaw.close = { _ in }
        }
        StoreMutant(
            .isolation, "closes-others", "Closing one store closes the others.", killedBy: "isolation.stores",
            message: "closed"
        ) { flaw in
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
        StoreMutant(
            .isolation, "shared-ids", "All stores share the last operation id.",
            killedBy: "isolation.stores", message: "the other store's last operation id"
        ) { flaw in
            let directory = ((flaw.path as NSString).deletingLastPathComponent as NSString)
                .deletingLastPathComponent
            flaw.putOperation = { transaction, operation in
                Files.make(directory + "/last-id", Data("\(operation.id)".utf8))
                try transaction.put(operation)
            }
            flaw.lastOperationID = { [hits = flaw.hits] transaction in
                let text = FileManager.default.contents(atPath: directory + "/last-id").map {
                    String(decoding: $0, as: UTF8.self)
                }
                let last = try transaction.lastOperationID()
                return hits.changing(last, to: max(last, text.flatMap(Int64.init) ?? 0))
            }
        }
        StoreMutant(
            .isolation, "tables-bleed", "Items of one table are also stored in the other tables.",
            killedBy: "item.table.own", message: "ids of Thing"
        ) { flaw in
            flaw.upsert = { [hits = flaw.hits] transaction, items, table in
                try transaction.upsert(items, in: table)
                hits.hit()
                for other in Fixture.tables {
                    try transaction.upsert(items.map { Item(id: $0.id) }, in: other.name)
                }
                try transaction.upsert(items, in: table)
            }
        }
        StoreMutant(
            .isolation, "joined-keys", "Table and id are joined: '2a' of Thing is 'a' of Thing2.",
            killedBy: "item.table.separator", message: "'a' of Thing2"
        ) { flaw in
            flaw.item = { [hits = flaw.hits] snapshot, id, table in
                let right = try snapshot.item(id: id, in: table)
                guard right == nil, table == "Thing2",
                    let other = try snapshot.item(id: "2" + id, in: "Thing")
                else { return right }
                return hits.changing(right, to: Item(id: id, fields: other.fields))
            }
        }
    }
}
