// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import SyncCore

extension StoreMutant {
    /// Errors in opening.
    @MutantList static var openings: [StoreMutant] {
        StoreMutant(
            .opening, "no-check", "Invalid names are accepted.", killedBy: "open.invalid-name", "corpus.name",
            "open.same-name", message: "opening a table named"
        ) { flaw in
            flaw.openBase = { [hits = flaw.hits] base, path, tables in
                do { return try base.open(at: path, tables: tables) } catch let error as SyncError
                    where error.code == .invalidTableDefinition
                {
                    hits.hit()
                    return try base.open(at: path, tables: [])
                }
            }
        }
        StoreMutant(
            .opening, "other-error", "Invalid names are refused with a store error.",
            killedBy: "open.invalid-name", "open.same-name", message: "SyncError with code -2004"
        ) { flaw in
            flaw.openBase = { [hits = flaw.hits] base, path, tables in
                do { return try base.open(at: path, tables: tables) } catch let error as SyncError {
                    hits.hit()
                    throw StoreError(.cannotOpen, "The tables cannot be made.", cause: error)
                }
            }
        }
        StoreMutant(
            .opening, "needs-tables", "A store requires at least one table.", killedBy: "open.no-tables",
            message: "no error"
        ) { flaw in
            flaw.openBase = { [hits = flaw.hits] base, path, tables in
                guard tables.isEmpty else { return try base.open(at: path, tables: tables) }
                hits.hit()
                throw StoreError(.cannotOpen, "There are no tables.")
            }
        }
        StoreMutant(
            .opening, "needs-columns", "A table requires at least one column.", killedBy: "open.no-columns",
            message: "no error"
        ) { flaw in
            flaw.openBase = { [hits = flaw.hits] base, path, tables in
                if tables.contains(where: { $0.columns.isEmpty && TableCatalog.accepts($0) }) {
                    hits.hit()
                    throw StoreError(.cannotOpen, "A table has no columns.")
                }
                return try base.open(at: path, tables: tables)
            }
        }
        StoreMutant(
            .opening, "hundred-columns", "Only the first hundred columns are stored.",
            killedBy: "open.many-columns", message: "the item"
        ) {
            $0.changingStoredItem { item in
                Item(
                    id: item.id,
                    fields: Dictionary(
                        uniqueKeysWithValues: item.fields.sorted { $0.key < $1.key }.prefix(100).map {
                            ($0.key, $0.value)
                        }), system: item.system)
            }
        }
        StoreMutant(
            .opening, "sorted-catalog", "The catalog is in another order.", killedBy: "open.catalog",
            message: "The catalog has the given tables."
        ) { flaw in
            flaw.catalog = { [hits = flaw.hits] catalog in
                hits.hit()
                return (try? TableCatalog(catalog.tables.reversed())) ?? catalog
            }
        }
        StoreMutant(
            .opening, "canonical-names", "A table is found by a canonically equivalent name.",
            killedBy: "open.canonical-name", message: "KELVIN"
        ) { flaw in
            flaw.item = { [hits = flaw.hits] snapshot, id, table in
                if table != "K" || table.utf8.count == 1 { return try snapshot.item(id: id, in: table) }
                hits.hit()
                return try snapshot.item(id: id, in: "K")
            }
        }
        StoreMutant(
            .opening, "leaves-lock", "A refused opening leaves a lock.",
            killedBy: "open.refused-leaves-nothing", message: "no error"
        ) { flaw in
            flaw.openBase = { [hits = flaw.hits] base, path, tables in
                let lock = path + ".busy"
                if FileManager.default.fileExists(atPath: lock) {
                    hits.hit()
                    throw StoreError(.alreadyOpen, "The store is locked.")
                }
                do { return try base.open(at: path, tables: tables) } catch {
                    Files.make(lock)
                    throw error
                }
            }
        }
        StoreMutant(
            .opening, "failure-closes", "An opening that fails closes the store that is open.",
            killedBy: "open.failed-leaves-others", message: "closed"
        ) { flaw in
            flaw.openBase = { [hits = flaw.hits] base, path, tables in
                do {
                    let store = try base.open(at: path, tables: tables)
                    StoreGroup.add(store, path)
                    return store
                } catch {
                    hits.hit()
                    try StoreGroup.closeAll(path)
                    throw error
                }
            }
        }
        StoreMutant(
            .opening, "type-ignored", "A column of another type is accepted.",
            killedBy: "durable.column-type", message: "opening with an integer column",
            needsDurableStore: true
        ) { flaw in
            flaw.openBase = { [hits = flaw.hits] base, path, tables in
                do { return try base.open(at: path, tables: tables) } catch let error as StoreError
                    where error.code == .schemaMismatch
                {
                    hits.hit()
                    return try base.open(at: path, tables: [])
                }
            }
        }
        StoreMutant(
            .opening, "starts-over", "Changed table definitions delete the contents.",
            killedBy: "durable.new-table", "durable.gone-table", "durable.gone-column", "durable.new-column",
            message: "", needsDurableStore: true
        ) { flaw in
            flaw.needsFiles = true
            flaw.openBase = { [hits = flaw.hits] base, path, tables in
                let list = tables.map { "\($0.name)(\($0.columns.map(\.name)))" }.joined()
                let (file, directory) = (path + ".tables", (path as NSString).deletingLastPathComponent)
                if let old = FileManager.default.contents(atPath: file), old != Data(list.utf8) {
                    hits.hit()
                    for name in try FileManager.default.contentsOfDirectory(atPath: directory) {
                        try FileManager.default.removeItem(atPath: "\(directory)/\(name)")
                    }
                }
                Files.make(file, Data(list.utf8))
                return try base.open(at: path, tables: tables)
            }
        }
        StoreMutant(
            .opening, "overwrites", "A file that is not a store is replaced.",
            killedBy: "durable.foreign-file", message: "opening a foreign file of the size 10000",
            needsDurableStore: true
        ) { flaw in
            flaw.openBase = { [hits = flaw.hits] base, path, tables in
                do { return try base.open(at: path, tables: tables) } catch let error as StoreError
                    where error.code == .corrupt
                {
                    hits.hit()
                    try FileManager.default.removeItem(atPath: path)
                    return try base.open(at: path, tables: tables)
                }
            }
        }
    }
}

extension TableCatalog {
    fileprivate static func accepts(_ table: SyncTableDefinition) -> Bool {
        (try? TableCatalog([table])) != nil
    }
}
