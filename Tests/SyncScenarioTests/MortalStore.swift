// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Synchronization
import TableServer

/// A store that can be taken away from its context in the middle of anything, as a crash would.
///
/// What was committed before stays in the store underneath, for the next context.
final class MortalStore: SyncContextDataSource {
    let base: any SyncContextDataSource
    private let isAlive = Mutex(true)

    init(_ base: any SyncContextDataSource) { self.base = base }

    var catalog: TableCatalog { base.catalog }
    var capabilities: StoreCapabilities { base.capabilities }

    /// From now on every call of the context fails.
    func kill() { isAlive.withLock { $0 = false } }

    func read<T>(_ body: (any StoreSnapshot) throws -> T) throws -> T {
        try requireLife()
        return try base.read(body)
    }

    func write<T>(_ body: (any StoreTransaction) throws -> T) throws -> T {
        try requireLife()
        return try base.write(body)
    }

    func close() throws { kill() }

    private func requireLife() throws {
        guard isAlive.withLock({ $0 }) else { throw StoreError(.closed, "The process is gone.") }
    }
}

extension Scenario {
    /// A device that a test can kill: see ``restart(_:delegate:settings:)``.
    func mortalDevice(
        _ name: String = "A", delegate: (any SyncContextDelegate)? = nil,
        settings: SyncSettings = SyncSettings(), tables: [SyncTableDefinition] = [Todo.definition]
    ) throws -> Device {
        let store = try kind.open(in: directory, name: name, tables: tables)
        return device(on: store, delegate: delegate, settings: settings)
    }

    /// Kills the device, whatever it is doing, and starts it again from what its store has.
    func restart(
        _ device: Device, name: String = "A", delegate: (any SyncContextDelegate)? = nil,
        settings: SyncSettings = SyncSettings(), tables: [SyncTableDefinition] = [Todo.definition]
    ) throws -> Device {
        guard let mortal = device.store as? MortalStore else { return device }
        mortal.kill()
        guard kind != .memory else {
            return self.device(on: mortal.base, delegate: delegate, settings: settings)
        }
        try mortal.base.close()
        let store = try kind.open(in: directory, name: name, tables: tables)
        return self.device(on: store, delegate: delegate, settings: settings)
    }

    private func device(
        on store: any SyncContextDataSource, delegate: (any SyncContextDelegate)?, settings: SyncSettings
    ) -> Device {
        let mortal = MortalStore(store)
        let context = SyncContext(
            client: SyncClient(url: server.url), dataSource: mortal, delegate: delegate, settings: settings,
            environment: .instant(seed: 11))
        return Device(context: context, store: mortal)
    }
}
