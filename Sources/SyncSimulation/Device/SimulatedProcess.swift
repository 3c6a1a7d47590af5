// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// One process of the app on a device.
struct SimulatedProcess: Sendable {
    let context: SyncContext
    let store: SimulatedStore
    let transport: SimulatedTransport
    /// `nil` if the app syncs by itself.
    let sync: SimulatedAutoSync?

    /// Ends the process without any cleanup, as the system does.
    func end() {
        sync?.end()
        store.end()
        transport.end()
    }
}
