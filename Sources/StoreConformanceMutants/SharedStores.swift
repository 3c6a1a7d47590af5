// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import SyncCore

/// Stores that are opened once and given out again and again.
enum OneStore {
    private static let stores = Shared<[String: any SyncContextDataSource]>([:])

    static func open(_ place: String, _ base: any StoreHarness, _ tables: [SyncTableDefinition]) throws
        -> any SyncContextDataSource
    {
        if let store = stores.value[place] { return store }
        let store = try base.open(at: "\(place)/one-store", tables: tables)
        stores.change { $0[place] = store }
        return store
    }
}

/// Stores that are closed together.
enum StoreGroup {
    private static let stores = Shared<[String: [any SyncContextDataSource]]>([:])

    private static func place(_ path: String) -> String {
        ((path as NSString).deletingLastPathComponent as NSString).deletingLastPathComponent
    }

    static func add(_ store: any SyncContextDataSource, _ path: String) {
        stores.change { $0[place(path), default: []].append(store) }
    }

    static func closeAll(_ path: String) throws {
        for store in stores.value[place(path)] ?? [] { try store.close() }
    }
}
