// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

extension StoreMutant {
    /// Stores that close wrongly.
    @MutantList static var lifecycles: [StoreMutant] {
        StoreMutant(.lifecycle, "reads-after-close", "A read works after close.", killedBy: "close.then-read", "close.again", saying: "a read") { flaw in
            let isClosed = Shared(false)
            flaw.close = { _ in isClosed.change { $0 = true } }
            flaw.write = { base, body in
                if isClosed.value { throw StoreError(.closed, "The store is closed.") }
                try base.write(body)
            }
            flaw.read = { [hits = flaw.hits] base, body in
                if isClosed.value { hits.hit() }
                try base.read(body)
            }
        }
        StoreMutant(.lifecycle, "writes-after-close", "A write works after close.", killedBy: "close.then-write", "concurrent.close", saying: "a write") { flaw in
            flaw.close = { [hits = flaw.hits] _ in hits.hit() }
        }
        StoreMutant(.lifecycle, "late-check", "Closed is thrown after the body has run.", killedBy: "close.then-read", "close.then-write", saying: "does not run") { flaw in
            let isClosed = Shared(false)
            flaw.close = { [hits = flaw.hits] _ in
                hits.hit()
                isClosed.change { $0 = true }
            }
            flaw.read = { base, body in
                try base.read(body)
                if isClosed.value { throw StoreError(.closed, "The store is closed.") }
            }
            flaw.write = { base, body in
                try base.write(body)
                if isClosed.value { throw StoreError(.closed, "The store is closed.") }
            }
        }
        StoreMutant(.lifecycle, "close-twice", "Closing again is an error.", killedBy: "close.again", saying: "no error") { flaw in
            let isClosed = Shared(false)
            flaw.close = { [hits = flaw.hits] base in
                if isClosed.value {
                    hits.hit()
                    throw StoreError(.closed, "The store is closed.")
                }
                isClosed.change { $0 = true }
                try base.close()
            }
        }
        StoreMutant(.lifecycle, "close-unused", "A store that was never used cannot be closed.", killedBy: "close.unused", saying: "no error") { flaw in
            let isUsed = Shared(false)
            flaw.write = { base, body in
                isUsed.change { $0 = true }
                try base.write(body)
            }
            flaw.close = { [hits = flaw.hits] base in
                try base.close()
                if !isUsed.value {
                    hits.hit()
                    throw StoreError(.inputOutput, "There is nothing to close.")
                }
            }
        }
        StoreMutant(.lifecycle, "other-code", "A closed store throws another error.", killedBy: "close.then-read", "close.then-write", saying: "StoreError.closed") { flaw in
            flaw.read = { [hits = flaw.hits] base, body in
                do { try base.read(body) } catch let error as StoreError where error.code == .closed {
                    hits.hit()
                    throw StoreError(.inputOutput, "The store is not open.")
                }
            }
            flaw.write = { [hits = flaw.hits] base, body in
                do { try base.write(body) } catch let error as StoreError where error.code == .closed {
                    hits.hit()
                    throw StoreError(.inputOutput, "The store is not open.")
                }
            }
        }
        StoreMutant(.lifecycle, "no-catalog", "A closed store has no tables.", killedBy: "close.keeps-catalog", saying: "The catalog is the same.") { flaw in
            let isClosed = Shared(false)
            flaw.close = { base in
                isClosed.change { $0 = true }
                try base.close()
            }
            flaw.catalog = { [hits = flaw.hits] catalog in
                if isClosed.value { hits.hit() }
                return isClosed.value ? (try? TableCatalog([])) ?? catalog : catalog
            }
        }
        StoreMutant(
            .lifecycle, "leaks", "Close leaves a file open.", killedBy: "close.releases-files", "close.after-error", "open.refused-leaves-nothing",
            saying: "open files"
        ) { flaw in
            flaw.close = { [hits = flaw.hits, path = flaw.path] base in
                try base.close()
                hits.hit()
                Files.make(path + ".leak")
                LeakedFiles.keep(FileHandle(forReadingAtPath: path + ".leak"), path)
            }
        }
        StoreMutant(.lifecycle, "hasty-close", "Close does not wait for a running write.", killedBy: "concurrent.close", saying: "Close returned after the running write.") { flaw in
            let isClosed = Shared(false)
            flaw.close = { [hits = flaw.hits] _ in
                hits.hit()
                isClosed.change { $0 = true }
            }
            flaw.write = { base, body in
                if isClosed.value { throw StoreError(.closed, "The store is closed.") }
                try base.write(body)
            }
        }
        StoreMutant(.lifecycle, "ten-stores", "No more than ten stores can be open.", killedBy: "open.many", saying: "no error") { flaw in
            flaw.openBase = { [hits = flaw.hits] base, path, tables in
                if let number = path.split(separator: "/").dropLast().last?.drop(while: { $0.isLetter }), Int(number) ?? 0 >= 10, path.contains("many") {
                    hits.hit()
                    throw StoreError(.cannotOpen, "There are too many stores.")
                }
                return try base.open(at: path, tables: tables)
            }
        }
    }

    /// Stores that open wrongly.
    @MutantList static var openings: [StoreMutant] {
        StoreMutant(.opening, "no-check", "Bad names are accepted.", killedBy: "open.invalid-name", "corpus.name", "open.same-name", saying: "opening a table called") { flaw in
            flaw.openBase = { [hits = flaw.hits] base, path, tables in
                do { return try base.open(at: path, tables: tables) } catch let error as SyncError where error.code == .invalidTableDefinition {
                    hits.hit()
                    return try base.open(at: path, tables: [])
                }
            }
        }
        StoreMutant(.opening, "other-error", "Bad names are refused with a store error.", killedBy: "open.invalid-name", "open.same-name", saying: "SyncError of code -2004") { flaw in
            flaw.openBase = { [hits = flaw.hits] base, path, tables in
                do { return try base.open(at: path, tables: tables) } catch let error as SyncError {
                    hits.hit()
                    throw StoreError(.cannotOpen, "The tables cannot be made.", cause: error)
                }
            }
        }
        StoreMutant(.opening, "needs-tables", "A store needs a table.", killedBy: "open.no-tables", saying: "no error") { flaw in
            flaw.openBase = { [hits = flaw.hits] base, path, tables in
                guard tables.isEmpty else { return try base.open(at: path, tables: tables) }
                hits.hit()
                throw StoreError(.cannotOpen, "There are no tables.")
            }
        }
        StoreMutant(.opening, "needs-columns", "A table needs a column.", killedBy: "open.no-columns", saying: "no error") { flaw in
            flaw.openBase = { [hits = flaw.hits] base, path, tables in
                if tables.contains(where: { $0.columns.isEmpty && TableCatalog.accepts($0) }) {
                    hits.hit()
                    throw StoreError(.cannotOpen, "A table has no columns.")
                }
                return try base.open(at: path, tables: tables)
            }
        }
        StoreMutant(.opening, "hundred-columns", "Of a table the first hundred columns are kept.", killedBy: "open.many-columns", saying: "the item") {
            $0.storing { item in
                Item(id: item.id, fields: Dictionary(uniqueKeysWithValues: item.fields.sorted { $0.key < $1.key }.prefix(100).map { ($0.key, $0.value) }), system: item.system)
            }
        }
        StoreMutant(.opening, "sorted-catalog", "The catalog is in another order.", killedBy: "open.catalog", saying: "The catalog is the one given.") { flaw in
            flaw.catalog = { [hits = flaw.hits] catalog in
                hits.hit()
                return (try? TableCatalog(catalog.tables.reversed())) ?? catalog
            }
        }
        StoreMutant(.opening, "canonical-names", "A table is found by a name that looks equal.", killedBy: "open.canonical-name", saying: "KELVIN") { flaw in
            flaw.item = { [hits = flaw.hits] snapshot, id, table in
                if table != "K" || table.utf8.count == 1 { return try snapshot.item(id: id, in: table) }
                hits.hit()
                return try snapshot.item(id: id, in: "K")
            }
        }
        StoreMutant(.opening, "leaves-lock", "An opening that was refused leaves a lock behind.", killedBy: "open.refused-leaves-nothing", saying: "no error") { flaw in
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
        StoreMutant(.opening, "type-ignored", "A column of another type is accepted.", killedBy: "durable.column-type", saying: "opening with an integer column", needsDurableStore: true) { flaw in
            flaw.openBase = { [hits = flaw.hits] base, path, tables in
                do { return try base.open(at: path, tables: tables) } catch let error as StoreError where error.code == .schemaMismatch {
                    hits.hit()
                    return try base.open(at: path, tables: [])
                }
            }
        }
        StoreMutant(.opening, "starts-over", "Other tables than before start the store over.", killedBy: "durable.new-table", "durable.gone-table", "durable.gone-column", "durable.new-column", saying: "", needsDurableStore: true) { flaw in
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
        StoreMutant(.opening, "overwrites", "A file that is no store is replaced by one.", killedBy: "durable.foreign-file", saying: "opening it", needsDurableStore: true) { flaw in
            flaw.openBase = { [hits = flaw.hits] base, path, tables in
                do { return try base.open(at: path, tables: tables) } catch let error as StoreError where error.code == .corrupt {
                    hits.hit()
                    try FileManager.default.removeItem(atPath: path)
                    return try base.open(at: path, tables: tables)
                }
            }
        }
    }

    /// Stores that do not keep what was written.
    @MutantList static var durabilities: [StoreMutant] {
        StoreMutant(
            .durability, "forgets", "A store that is opened again is empty.", killedBy: "durable.items", "durable.everything", "durable.queries",
            "durable.deletes", "durable.last-write", "durable.image", saying: "all items", needsDurableStore: true
        ) { flaw in
            flaw.openBase = { [hits = flaw.hits] base, path, tables in
                hits.hit()
                return try base.open(at: path + "-\(UUID().uuidString)", tables: tables)
            }
        }
        StoreMutant(.durability, "loses-last", "Close loses the last item that was written.", killedBy: "durable.last-write", "durable.items", saying: "the item in round", needsDurableStore: true) { flaw in
            let last = Shared<(id: String, table: String)?>(nil)
            let isClosed = Shared(false)
            flaw.upsert = { transaction, items, table in
                let id = items.last?.id
                last.change { $0 = id.map { ($0, table) } }
                try transaction.upsert(items, in: table)
            }
            flaw.close = { [hits = flaw.hits] base in
                if !isClosed.value, let last = last.value {
                    hits.hit()
                    try? base.write { try $0.deleteItems(ids: [last.id], in: last.table) }
                }
                isClosed.change { $0 = true }
                try base.close()
            }
        }
        StoreMutant(.durability, "queue-in-memory", "The queue is not kept.", killedBy: "durable.everything", saying: "", needsDurableStore: true) { flaw in
            flaw.openBase = { [hits = flaw.hits] base, path, tables in
                let store = try base.open(at: path, tables: tables)
                try store.write { transaction in
                    for operation in try transaction.operations(after: 0, in: nil, limit: .max) {
                        hits.hit()
                        try transaction.removeOperation(id: operation.id)
                    }
                }
                return store
            }
        }
        StoreMutant(.durability, "id-of-queue", "After opening again, ids go on from the queue's last.", killedBy: "durable.last-id", saying: "the last operation id, opening 0", needsDurableStore: true) { flaw in
            let highest = Shared<Int64>(0)
            flaw.openBase = { base, path, tables in
                let store = try base.open(at: path, tables: tables)
                let last = try store.read { try $0.operations(after: 0, in: nil, limit: .max).last?.id ?? 0 }
                highest.change { $0 = last }
                return store
            }
            flaw.putOperation = { transaction, operation in
                highest.change { $0 = max($0, operation.id) }
                try transaction.put(operation)
            }
            flaw.lastOperationID = { [hits = flaw.hits] transaction in hits.changing(try transaction.lastOperationID(), to: highest.value) }
        }
        StoreMutant(.durability, "undone-comes-back", "What was undone comes back at the next opening.", killedBy: "durable.rollback", "fault.every-change.reopened", saying: "the store", needsDurableStore: true) { flaw in
            let undone = Shared(false)
            let isClosed = Shared(false)
            flaw.write = { base, body in
                do { try base.write(body) } catch {
                    undone.change { $0 = true }
                    throw error
                }
            }
            flaw.close = { [hits = flaw.hits] base in
                if undone.value, !isClosed.value {
                    hits.hit()
                    try? base.write { try $0.setConfigValue("back", for: Fixture.key("k")) }
                }
                isClosed.change { $0 = true }
                try base.close()
            }
        }
        StoreMutant(
            .durability, "writes-at-close", "Writes reach the file when the store closes.", killedBy: "durable.image", "durable.image.inside",
            "durable.image.large", "crash.any-time", saying: "the copy after write 0", needsDurableStore: true
        ) { flaw in
            flaw.workElsewhere { _ in false }
        }
        StoreMutant(.durability, "every-other", "Every other write waits for the next to reach the file.", killedBy: "durable.image", "crash.any-time", saying: "the copy after write", needsDurableStore: true) { flaw in
            let count = Shared(0)
            flaw.workElsewhere { _ in
                count.change { $0 += 1 }
                return count.value % 2 == 0
            }
        }
        StoreMutant(
            .durability, "two-steps", "A transaction's marker is committed before the transaction.", killedBy: "durable.image.inside", "crash.every-change",
            saying: "the copy 'inside", needsDurableStore: true
        ) { flaw in
            let marker = Fixture.key("busy")
            flaw.write = { [hits = flaw.hits] base, body in
                hits.hit()
                try base.write { try $0.setConfigValue("busy", for: marker) }
                defer { try? base.write { try $0.setConfigValue(nil, for: marker) } }
                try base.write(body)
            }
        }
    }
}

extension TableCatalog {
    fileprivate static func accepts(_ table: TableDefinition) -> Bool { (try? TableCatalog([table])) != nil }
}

extension StoreFlaw {
    /// Keeps the store in another directory, and copies it into place at closing and after the writes that `isKept`
    /// names.
    fileprivate mutating func workElsewhere(_ isKept: @escaping @Sendable (_ path: String) -> Bool) {
        let place = (path as NSString).deletingLastPathComponent
        let hidden = "\(place)-hidden"
        let files = FileManager.default
        let copy: @Sendable () throws -> Void = {
            try? files.removeItem(atPath: place)
            try files.copyItem(atPath: hidden, toPath: place)
        }
        openBase = { [hits] base, path, tables in
            hits.hit()
            try? files.removeItem(atPath: hidden)
            try files.copyItem(atPath: place, toPath: hidden)
            let store = try base.open(at: "\(hidden)/store", tables: tables)
            try copy()
            return store
        }
        write = { [path] base, body in
            try base.write(body)
            if isKept(path) { try copy() }
        }
        close = { base in
            try base.close()
            if files.fileExists(atPath: hidden) { try copy() }
        }
    }
}

/// Files that a mutant leaves open until the directory they are in is gone.
private enum LeakedFiles {
    private static let kept = Shared<[String: FileHandle]>([:])

    static func keep(_ file: FileHandle?, _ path: String) {
        kept.change { kept in
            kept = kept.filter { FileManager.default.fileExists(atPath: $0.key + ".leak") }
            kept[path] = file
        }
    }
}

/// Marks that mutants leave in the file system.
enum Files {
    static func make(_ path: String, _ contents: Data = Data()) {
        _ = FileManager.default.createFile(atPath: path, contents: contents)
    }
}
