// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import SyncCore

/// Stores that are opened once per directory and shared by all openings.
enum OneStore {
    private static let stores = Shared<[String: any SyncContextDataSource]>([:])

    static func open(_ directory: String, _ base: any StoreHarness, _ tables: [SyncTableDefinition]) throws
        -> any SyncContextDataSource
    {
        if let store = stores.value[directory] { return store }
        let store = try base.open(at: "\(directory)/one-store", tables: tables)
        stores.change { $0[directory] = store }
        return store
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
