// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

package import SyncCore

extension SyncEnvironment {
    /// An environment without delays.
    package static var instant: SyncEnvironment {
        var environment = SyncEnvironment.live
        environment.sleep = { _ in
            try Task.checkCancellation()
            // A loop that sleeps would otherwise keep its thread.
            await Task.yield()
        }
        return environment
    }
}
