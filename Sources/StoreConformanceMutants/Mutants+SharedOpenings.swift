// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import SyncCore

extension StoreMutant {
    /// Stores whose openings at the same time disturb each other.
    @MutantList static var sharedOpenings: [StoreMutant] {
        declaring(
            "creation-race", "Openings at the same time that find no store create one each.",
            killedBy: "capability.multi-process.opened-together", message: "in an opening of the same time"
        ) { flaw in
            let declared = flaw.shareInProcess()
            flaw.openBase = { [hits = flaw.hits] base, path, tables in
                declared.open(try TableCatalog(tables))
                if let store = Created.stores.value[path] { return SharedOpening(store) }
                Thread.sleep(forTimeInterval: 0.005)
                if Created.stores.value[path] != nil { hits.hit() }
                let store = try base.open(
                    at: "\(path)-\(UUID().uuidString)", tables: Fixture.allColumns(of: tables))
                Created.stores.change { $0[path] = store }
                return SharedOpening(store)
            }
        }
        declaring(
            "table-list-race", "Openings at the same time replace each other's list of tables.",
            killedBy: "capability.multi-process.opened-together", message: "the items of"
        ) { flaw in
            flaw.shareInProcess()
            let open = flaw.openBase
            flaw.openBase = { [hits = flaw.hits] base, path, tables in
                let known = Created.tables.value[path] ?? []
                Thread.sleep(forTimeInterval: 0.002)
                let store = try open?(base, path, tables) ?? base.open(at: path, tables: tables)
                let missing = tables.map(\.name).filter { !known.contains($0) }
                // Creates the tables that are not in the list.
                try store.write { transaction in
                    for name in missing {
                        if try transaction.deleteItems(matching: TableQuery(name)) > 0 { hits.hit() }
                    }
                }
                Created.tables.change { $0[path] = known + missing }
                return store
            }
        }
        declaring(
            "busy-opening", "An opening is refused while another one prepares the tables.",
            killedBy: "capability.multi-process.opened-together", message: "Another opening prepares"
        ) { flaw in
            flaw.shareInProcess()
            let open = flaw.openBase
            flaw.openBase = { [hits = flaw.hits] base, path, tables in
                Created.running.change { $0[path, default: 0] += 1 }
                defer { Created.running.change { $0[path, default: 0] -= 1 } }
                if Created.running.value[path] != 1 {
                    hits.hit()
                    throw StoreError(.unavailable, "Another opening prepares the tables.")
                }
                Thread.sleep(forTimeInterval: 0.005)
                return try open?(base, path, tables) ?? base.open(at: path, tables: tables)
            }
        }
        StoreMutant(
            .capability, "process-creation-race",
            "Processes that find no store at the same time create it again.",
            killedBy: "capability.multi-process.processes.opened-together",
            message: "the items of all openings", needsDurableStore: true
        ) { flaw in
            flaw.shareByTurns()
            let open = flaw.openBase
            flaw.openBase = { [hits = flaw.hits] base, path, tables in
                let isNew = !FileManager.default.fileExists(atPath: path + ".ready")
                let store = try open?(base, path, tables) ?? base.open(at: path, tables: tables)
                guard isNew else { return store }
                hits.hit()
                // Processes that start together finish at different times.
                Thread.sleep(
                    forTimeInterval: 0.1 + 0.2 * Double(ProcessInfo.processInfo.processIdentifier % 3))
                try store.write { transaction in
                    for table in tables { try transaction.deleteItems(matching: TableQuery(table.name)) }
                }
                Files.make(path + ".ready")
                return store
            }
        }
    }
}

/// What the openings of this process have created, by the path of the store.
private enum Created {
    static let stores = Shared<[String: any SyncContextDataSource]>([:])
    static let tables = Shared<[String: [String]]>([:])
    static let running = Shared<[String: Int]>([:])
}
