// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import SyncCore

/// Stores that are opened once per path and shared by all openings.
enum OneStore {
    private static let stores = Shared<[String: any SyncContextDataSource]>([:])
    private static let lock = NSLock()

    static func open(_ path: String, _ base: any StoreHarness, _ tables: [SyncTableDefinition]) throws
        -> any SyncContextDataSource
    {
        try lock.withLock {
            if let store = stores.value[path] { return store }
            let store = try base.open(at: "\(path)-one-store", tables: tables)
            stores.change { $0[path] = store }
            return store
        }
    }
}

/// One opening of a store that several openings share. Closing it does not close the store.
struct SharedOpening: SyncContextDataSource {
    let base: any SyncContextDataSource
    private let isClosed = Shared(false)
    private let running = DispatchGroup()

    init(_ base: any SyncContextDataSource) { self.base = base }

    var catalog: TableCatalog { base.catalog }
    var capabilities: StoreCapabilities { base.capabilities }

    func read<T>(_ body: (any StoreSnapshot) throws -> T) throws -> T {
        try whileOpen { try base.read(body) }
    }

    func write<T>(_ body: (any StoreTransaction) throws -> T) throws -> T {
        try whileOpen { try base.write(body) }
    }

    func tryLockPush() throws -> (any StorePushLock)? { try whileOpen { try base.tryLockPush() } }

    func tryLockSync() throws -> (any StorePushLock)? { try whileOpen { try base.tryLockSync() } }

    func close() {
        isClosed.change { isClosed in isClosed = true }
        running.wait()
    }

    private func whileOpen<T>(_ body: () throws -> T) throws -> T {
        running.enter()
        defer { running.leave() }
        if isClosed.value { throw StoreError(.closed, "The store is closed.") }
        return try body()
    }
}

/// Stores of one run that are closed together.
enum StoreGroup {
    private static let stores = Shared<[String: [any SyncContextDataSource]]>([:])

    private static func directory(_ path: String) -> String {
        ((path as NSString).deletingLastPathComponent as NSString).deletingLastPathComponent
    }

    static func add(_ store: any SyncContextDataSource, _ path: String) {
        stores.change { $0[directory(path), default: []].append(store) }
    }

    static func closeAll(_ path: String) throws {
        for store in stores.value[directory(path)] ?? [] { try store.close() }
    }
}
