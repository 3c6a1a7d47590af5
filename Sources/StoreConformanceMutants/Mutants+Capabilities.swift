// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
@_spi(StoreAuthor) import SyncCore

extension StoreMutant {
    /// Stores with wrong capabilities.
    @MutantList static var capabilities: [StoreMutant] {
        declaring(
            "changing", "Capabilities change after writing.", killedBy: "capability.constant",
            message: "The capabilities after writing"
        ) { flaw in
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
        declaring(
            "short-ids", "Ids have at most 255 bytes.", killedBy: "capability.id-length",
            message: "at least 1020"
        ) { flaw in
            flaw.declare { $0.maxIDLength = 255 }
        }
        declaring(
            "longer-ids", "Ids longer than declared are accepted.", killedBy: "capability.id-length.limit",
            message: "an id that is one byte longer"
        ) { flaw in
            flaw.declare { $0.maxIDLength = 1020 }
            flaw.openBase = { base, path, tables in try base.open(at: path, tables: tables) }
        }
        declaring(
            "unlimited-ids", "Ids of any length are declared, but long ones are truncated.",
            killedBy: "capability.id-length.unlimited", message: "an id of 1021 bytes"
        ) { flaw in
            flaw.declare { $0.maxIDLength = .max }
            flaw.changingStoredItem {
                Item(id: String($0.id.unicodeScalars.prefix(255)), fields: $0.fields, system: $0.system)
            }
        }
        declaring(
            "hidden-readers", "Concurrent readers work but are not declared.",
            killedBy: "concurrent.reader-beside-writer.undeclared", message: "declare hasConcurrentReaders"
        ) { flaw in
            flaw.declare { $0.hasConcurrentReaders = false }
        }
        declaring(
            "alleged-indexes", "Indexes are declared, but a lookup takes longer than a scan.",
            killedBy: "capability.indexes.declared", message: "less than half"
        ) { flaw in
            flaw.declare { $0.usesIndexes = true }
            flaw.items = { snapshot, query in
                let all = try snapshot.items(matching: TableQuery(query.table)).items
                if case .comparison(_, .column("mark"), _)? = query.filter { _ = query.apply(to: all) }
                return query.apply(to: all)
            }
        }
        declaring(
            "hidden-indexes", "Indexes exist but are not declared.",
            killedBy: "capability.indexes.undeclared", message: "declare usesIndexes"
        ) { flaw in
            flaw.declare { $0.usesIndexes = false }
            let ids = Shared<[String: String]>([:])
            flaw.upsert = { transaction, items, table in
                ids.change { ids in
                    for item in items { if let mark = item["mark"]?.textValue { ids[mark] = item.id } }
                }
                try transaction.upsert(items, in: table)
            }
            flaw.items = { snapshot, query in
                guard case .comparison(.equal, .column("mark"), .constant(.text(let mark)))? = query.filter
                else { return try snapshot.items(matching: query) }
                let item = try ids.value[mark].flatMap { try snapshot.item(id: $0, in: query.table) }
                return QueryResult(items: item.map { [$0] } ?? [])
            }
        }
        declaring(
            "alleged-files", "A store without files claims to have files.",
            killedBy: "capability.files.declared",
            message: "The directory contains a file"
        ) { flaw in
            flaw.declare { $0.isDurable = true }
            flaw.hasFilesAtPath = true
            flaw.openBase = { base, path, tables in
                let directory = (path as NSString).deletingLastPathComponent + "-elsewhere"
                try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
                return try base.open(at: directory + "/store", tables: tables)
            }
        }
        declaring(
            "hidden-files", "A store that claims to have no files has one.",
            killedBy: "capability.files.undeclared", message: "the files in the store's directory"
        ) { flaw in
            flaw.hasFilesAtPath = false
            flaw.openBase = { [hits = flaw.hits] base, path, tables in
                hits.hit()
                Files.make(path + ".data")
                return try base.open(at: path, tables: tables)
            }
        }
        declaring(
            "torn-undeclared", "A store that is not durable opens with half of a transaction.",
            killedBy: "capability.durable.undeclared", message: "is an earlier state of the store"
        ) { flaw in
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

    static func declaring(
        _ name: String, _ flaw: String, killedBy killers: String..., message: String,
        _ build: @escaping @Sendable (inout StoreFlaw) -> Void
    ) -> StoreMutant {
        StoreMutant(.capability, name, flaw, killers: killers, message: message, build)
    }
}

extension StoreFlaw {
    /// Declares other capabilities than the base, which counts as a hit.
    mutating func declare(_ change: @escaping @Sendable (inout StoreCapabilities) -> Void) {
        capabilities = { [hits] capabilities in
            hits.hit()
            var changed = capabilities
            change(&changed)
            return changed
        }
    }
}
