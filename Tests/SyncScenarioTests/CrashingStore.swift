// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Synchronization
import TableServer

/// A store that fails every call after a simulated crash.
///
/// Transactions committed before the crash remain in the base store, for the next context.
final class CrashingStore: SyncContextDataSource {
    let base: any SyncContextDataSource
    private let hasCrashed = Mutex(false)

    init(_ base: any SyncContextDataSource) { self.base = base }

    var catalog: TableCatalog { base.catalog }
    var capabilities: StoreCapabilities { base.capabilities }

    /// Makes every later call fail.
    func crash() { hasCrashed.withLock { $0 = true } }

    func read<T>(_ body: (any StoreSnapshot) throws -> T) throws -> T {
        try checkNotCrashed()
        return try base.read(body)
    }

    func write<T>(_ body: (any StoreTransaction) throws -> T) throws -> T {
        try checkNotCrashed()
        return try base.write(body)
    }

    func close() throws { crash() }

    private func checkNotCrashed() throws {
        if hasCrashed.withLock({ $0 }) { throw StoreError(.closed, "The process has crashed.") }
    }
}

extension Scenario {
    /// Returns a device that a test can restart: see ``restart(_:name:delegate:settings:tables:)``.
    func crashableDevice(
        _ name: String = "A", delegate: (any SyncContextDelegate)? = nil,
        settings: SyncSettings = SyncSettings(), tables: [SyncTableDefinition] = [Todo.definition]
    ) throws -> Device {
        let store = try kind.open(in: directory, name: name, tables: tables)
        return device(on: CrashingStore(store), name: name, delegate: delegate, settings: settings)
    }

    /// Crashes the device, even during a call, and returns a new device with its store.
    func restart(
        _ device: Device, name: String = "A", delegate: (any SyncContextDelegate)? = nil,
        settings: SyncSettings = SyncSettings(), tables: [SyncTableDefinition] = [Todo.definition]
    ) throws -> Device {
        guard let crashed = device.store as? CrashingStore else { return device }
        crashed.crash()
        var store = crashed.base
        if kind != .memory {
            try store.close()
            store = try kind.open(in: directory, name: name, tables: tables)
        }
        return self.device(on: CrashingStore(store), name: name, delegate: delegate, settings: settings)
    }
}
