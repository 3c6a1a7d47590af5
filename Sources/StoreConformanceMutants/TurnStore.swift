// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
@_spi(StoreAuthor) import SyncCore

/// A store that opens its base for each transaction, and waits while another opening has it open.
struct TurnStore: SyncContextDataSource {
    let catalog: TableCatalog
    let capabilities: StoreCapabilities
    private let openBase: @Sendable () throws -> any SyncContextDataSource

    init(_ openBase: @escaping @Sendable () throws -> any SyncContextDataSource) throws {
        self.openBase = openBase
        let store = try Self.waiting(for: openBase)
        catalog = store.catalog
        capabilities = store.capabilities
        try store.close()
    }

    func read<T>(_ body: (any StoreSnapshot) throws -> T) throws -> T {
        try inTurn { try $0.read(body) }
    }

    func write<T>(_ body: (any StoreTransaction) throws -> T) throws -> T {
        try inTurn { try $0.write(body) }
    }

    func close() {}

    private func inTurn<T>(_ body: (any SyncContextDataSource) throws -> T) throws -> T {
        let store = try Self.waiting(for: openBase)
        let result = Result { try body(store) }
        try store.close()
        // Another opening can take its turn.
        Thread.sleep(forTimeInterval: 0.001)
        return try result.get()
    }

    private static func waiting(
        for openBase: () throws -> any SyncContextDataSource
    ) throws -> any SyncContextDataSource {
        while true {
            do { return try openBase() } catch let error as StoreError where error.code == .alreadyOpen {
                Thread.sleep(forTimeInterval: 0.0005)
            }
        }
    }
}

extension StoreFlaw {
    /// Opens a base that only one opening can have open for each transaction. Other transactions wait.
    mutating func takeTurns(isMultiProcess: Bool = true) {
        declare { ($0.isMultiProcess, $0.hasConcurrentReaders) = (isMultiProcess, false) }
        openBase = { base, path, tables in
            SharedOpening(try TurnStore { try base.open(at: path, tables: tables) })
        }
    }

    /// Shares a base by turns, with locks and a stamp that work across processes.
    mutating func shareByTurns() {
        takeTurns()
        tryLockPush = { [path] base in try Self.tryLock(path + ".push", base) }
        tryLockSync = { [path] base in try Self.tryLock(path + ".sync", base) }
        let commits = ConfigKey(table: "\u{1}turns", kind: .setting, name: "commits")
        let own = Shared<Int64>(0)
        let lock = NSLock()
        write = { base, body in
            try lock.withLock {
                try base.write { transaction in
                    try body(transaction)
                    let count = try transaction.number(commits) + 1
                    try transaction.setConfigValue("\(count)", for: commits)
                }
                own.change { $0 += 1 }
            }
        }
        externalCommitStamp = { transaction in try transaction.number(commits) - own.value }
    }

    private static func tryLock(
        _ path: String, _ base: any SyncContextDataSource
    ) throws -> (any StorePushLock)? {
        guard try base.tryLockPush() != nil else { return nil }
        do { return try StoreFileLock(storePath: path) } catch  where error.code == .alreadyOpen {
            return nil
        }
    }
}

extension StoreSnapshot {
    fileprivate func number(_ key: ConfigKey) throws -> Int64 {
        try configValue(key).flatMap { Int64($0) } ?? 0
    }
}
