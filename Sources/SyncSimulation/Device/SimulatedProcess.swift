// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// One process of the app on a device.
struct SimulatedProcess: Sendable {
    let context: SyncContext
    let store: SimulatedStore
    let transport: SimulatedTransport

    /// Ends the process without any cleanup, as the system does.
    func end() {
        store.end()
        transport.end()
    }
}
