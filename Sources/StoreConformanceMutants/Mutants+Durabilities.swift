// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import SyncCore

extension StoreMutant {
    /// Stores that do not keep what was written.
    @MutantList static var durabilities: [StoreMutant] {
        StoreMutant(
            .durability, "forgets", "A store that is opened again is empty.", killedBy: "durable.items",
            "durable.everything", "durable.queries",
            "durable.deletes", "durable.last-write", "durable.image", saying: "all items",
            needsDurableStore: true
        ) { flaw in
            flaw.openBase = { [hits = flaw.hits] base, path, tables in
                hits.hit()
                return try base.open(at: path + "-\(UUID().uuidString)", tables: tables)
            }
        }
        StoreMutant(
            .durability, "loses-last", "Close loses the last item that was written.",
            killedBy: "durable.last-write", "durable.items", saying: "the item in round",
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
            .durability, "queue-in-memory", "The queue is not kept.", killedBy: "durable.everything",
            saying: "", needsDurableStore: true
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
            .durability, "id-of-queue", "After opening again, ids go on from the queue's last.",
            killedBy: "durable.last-id", saying: "the last operation id, opening 0", needsDurableStore: true
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
            .durability, "undone-comes-back", "What was undone comes back at the next opening.",
            killedBy: "durable.rollback", "fault.every-change.reopened", saying: "the store",
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
            .durability, "writes-at-close", "Writes reach the file when the store closes.",
            killedBy: "durable.image", "durable.image.inside",
            "durable.image.large", "crash.any-time", saying: "the copy after write 0", needsDurableStore: true
        ) { flaw in
            flaw.workElsewhere { _ in false }
        }
        StoreMutant(
            .durability, "every-other", "Every other write waits for the next to reach the file.",
            killedBy: "durable.image", "crash.any-time", saying: "the copy after write",
            needsDurableStore: true
        ) { flaw in
            let count = Shared(0)
            flaw.workElsewhere { _ in
                count.change { $0 += 1 }
                return count.value % 2 == 0
            }
        }
        StoreMutant(
            .durability, "two-steps", "A transaction's marker is committed before the transaction.",
            killedBy: "durable.image.inside", "crash.every-change",
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
