// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import SyncCore

extension StoreMutant {
    /// Stores that lose committed data.
    @MutantList static var durabilities: [StoreMutant] {
        StoreMutant(
            .durability, "forgets", "A reopened store is empty.", killedBy: "durable.items",
            "durable.everything", "durable.queries",
            "durable.deletes", "durable.last-write", "durable.image", message: "all items",
            needsDurableStore: true
        ) { flaw in
            flaw.openBase = { [hits = flaw.hits] base, path, tables in
                hits.hit()
                return try base.open(at: path + "-\(UUID().uuidString)", tables: tables)
            }
        }
        StoreMutant(
            .durability, "loses-last", "Close loses the last written item.",
            killedBy: "durable.last-write", "durable.items", message: "the item in round",
            needsDurableStore: true
        ) { flaw in
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
        StoreMutant(
            .durability, "queue-in-memory", "The queue is lost at reopening.", killedBy: "durable.everything",
            message: "", needsDurableStore: true
        ) { flaw in
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
        StoreMutant(
            .durability, "id-of-queue",
            "After reopening, operation ids continue from the last queued operation.",
            killedBy: "durable.last-id", message: "the last operation id, opening 0", needsDurableStore: true
        ) { flaw in
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
            flaw.lastOperationID = { [hits = flaw.hits] transaction in
                hits.changing(try transaction.lastOperationID(), to: highest.value)
            }
        }
        StoreMutant(
            .durability, "undone-comes-back", "Rolled back changes return at the next opening.",
            killedBy: "durable.rollback", "fault.every-change.reopened", message: "the store",
            needsDurableStore: true
        ) { flaw in
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
            .durability, "writes-at-close", "Writes reach the file only when the store closes.",
            killedBy: "durable.image", "durable.image.inside",
            "durable.image.large", "crash.any-time", message: "the copy after write 0",
            needsDurableStore: true
        ) { flaw in
            flaw.useHiddenDirectory { _ in false }
        }
        StoreMutant(
            .durability, "every-other", "Every other write reaches the file only with the next write.",
            killedBy: "durable.image", "crash.any-time", message: "the copy after write",
            needsDurableStore: true
        ) { flaw in
            let count = Shared(0)
            flaw.useHiddenDirectory { _ in
                count.change { $0 += 1 }
                return count.value % 2 == 0
            }
        }
        StoreMutant(
            .durability, "lock-survives", "The lock of a killed process stays.",
            killedBy: "crash.locks", message: "alreadyOpen", needsDurableStore: true
        ) { flaw in
            let file = flaw.path + ".owner"
            flaw.openBase = { [hits = flaw.hits] base, path, tables in
                if FileManager.default.fileExists(atPath: file) {
                    hits.hit()
                    throw StoreError(.alreadyOpen, "The store is open.")
                }
                let store = try base.open(at: path, tables: tables)
                Files.make(file)
                return store
            }
            flaw.close = { base in
                try base.close()
                try? FileManager.default.removeItem(atPath: file)
            }
        }
        StoreMutant(
            .durability, "commits-in-pieces", "A write of many changes is committed in two pieces.",
            killedBy: "crash.large", message: "the number of transactions that the items are of",
            needsDurableStore: true
        ) { flaw in
            let open = flaw.openBase
            flaw.openBase = { [hits = flaw.hits] base, path, tables in
                // The process that is killed has the effect.
                hits.hit()
                return try open?(base, path, tables) ?? base.open(at: path, tables: tables)
            }
            flaw.write = { base, body in
                let changes = try RecordingTransaction.changes(of: body, on: base)
                let middle = changes.count > 20 ? changes.count / 2 : 0
                for piece in [changes[..<middle], changes[middle...]] where !piece.isEmpty {
                    try base.write { for change in piece { try change($0) } }
                }
            }
        }
        StoreMutant(
            .durability, "two-steps", "A marker is committed before each transaction.",
            killedBy: "durable.image.inside", "crash.every-change",
            message: "the copy 'inside", needsDurableStore: true
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

extension StoreFlaw {
    /// Opens the store in a hidden directory, and copies its files back at closing and after the writes for which
    /// `isKept` returns true.
    fileprivate mutating func useHiddenDirectory(_ isKept: @escaping @Sendable (_ path: String) -> Bool) {
        needsFiles = true
        let directory = (path as NSString).deletingLastPathComponent
        let hidden = "\(directory)-hidden"
        let files = FileManager.default
        let copy: @Sendable () throws -> Void = {
            try? files.removeItem(atPath: directory)
            try files.copyItem(atPath: hidden, toPath: directory)
        }
        openBase = { [hits] base, path, tables in
            hits.hit()
            try? files.removeItem(atPath: hidden)
            try files.copyItem(atPath: directory, toPath: hidden)
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
