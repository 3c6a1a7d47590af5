// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreConformance
import SyncCore

extension StoreMutant {
    /// Stores whose openings do not notice some changes of other openings.
    @MutantList static var sharedCaches: [StoreMutant] {
        declaring(
            "cached-config", "Each opening caches config values until its next write.",
            killedBy: "capability.multi-process.shared",
            message: "a read of the other opening after a change of a config value"
        ) { flaw in
            flaw.shareOneStore()
            let cache = Shared<[String: [(key: ConfigKey, value: String)]]>([:])
            flaw.clearAtWrites { cache.change { $0 = [:] } }
            flaw.configValues = { [hits = flaw.hits] snapshot, table, kind in
                let right = try snapshot.configValues(in: table, kind: kind)
                let name = "\(kind.rawValue) of \(table)"
                let values = cache.value[name] ?? right
                cache.change { $0[name] = values }
                if values.map(\.value) != right.map(\.value) { hits.hit() }
                return values
            }
        }
        declaring(
            "cached-queue", "Each opening caches the queue until its next write.",
            killedBy: "capability.multi-process.shared",
            message: "a read of the other opening after a change of an operation"
        ) { flaw in
            flaw.shareOneStore()
            let cache = Shared<[String: [TableOperation]]>([:])
            flaw.clearAtWrites { cache.change { $0 = [:] } }
            flaw.operations = { [hits = flaw.hits] snapshot, id, table, limit in
                let right = try snapshot.operations(after: id, in: table, limit: limit)
                let name = "after \(id) in \(table ?? "all tables"), \(limit)"
                let operations = cache.value[name] ?? right
                cache.change { $0[name] = operations }
                return hits.changing(right, to: operations)
            }
        }
        declaring(
            "cached-operation", "Each opening caches operations by their ids until its next write.",
            killedBy: "capability.multi-process.shared.by-id",
            message: "the operation that the other opening has replaced"
        ) { flaw in
            flaw.shareOneStore()
            let cache = Shared<[Int64: TableOperation?]>([:])
            flaw.clearAtWrites { cache.change { $0 = [:] } }
            flaw.operation = { [hits = flaw.hits] snapshot, id in
                let right = try snapshot.operation(id: id)
                let operation = cache.value[id] ?? right
                cache.change { $0[id] = .some(operation) }
                return hits.changing(right, to: operation)
            }
        }
        declaring(
            "cached-error", "Each opening caches errors by their ids until its next write.",
            killedBy: "capability.multi-process.shared.by-id",
            message: "the error that the other opening has replaced"
        ) { flaw in
            flaw.shareOneStore()
            let cache = Shared<[Int64: TableOperationError?]>([:])
            flaw.clearAtWrites { cache.change { $0 = [:] } }
            flaw.operationError = { [hits = flaw.hits] snapshot, id in
                let right = try snapshot.operationError(operationID: id)
                let error = cache.value[id] ?? right
                cache.change { $0[id] = .some(error) }
                return hits.changing(right, to: error)
            }
        }
        declaring(
            "item-stamp", "The external commit stamp changes only after commits of items.",
            killedBy: "capability.multi-process.stamp",
            message: "changes after the other opening's commit of an operation"
        ) { flaw in
            flaw.shareOneStore()
            let own = Shared<Int64>(0)
            flaw.upsert = { [path = flaw.path] transaction, items, table in
                try transaction.upsert(items, in: table)
                ProcessCommits.add(path)
                own.change { $0 += 1 }
            }
            flaw.externalCommitStamp = { [hits = flaw.hits, path = flaw.path] _ in
                hits.hit()
                return ProcessCommits.count(path) - own.value
            }
        }
    }
}

extension StoreFlaw {
    /// Clears a cache before and after each write, and at each change of the queue and of config values.
    fileprivate mutating func clearAtWrites(_ clear: @escaping @Sendable () -> Void) {
        write = { base, body in
            clear()
            defer { clear() }
            try base.write(body)
        }
        putOperation = { transaction, operation in
            clear()
            try transaction.put(operation)
        }
        removeOperation = { transaction, id in
            clear()
            try transaction.removeOperation(id: id)
        }
        setConfig = { transaction, value, key in
            clear()
            try transaction.setConfigValue(value, for: key)
        }
    }
}
