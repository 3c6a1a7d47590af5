// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import SyncCore

extension StoreMutant {
    /// Errors in closing a store that is in use.
    @MutantList static var closing: [StoreMutant] {
        StoreMutant(
            .concurrency, "close-beside-reads", "Close does not wait for running reads.",
            killedBy: "concurrent.close.read", message: "Close waited for the running read."
        ) { flaw in
            flaw.close = { [hits = flaw.hits] base in
                hits.hit()
                let thread = Thread { _ = try? base.close() }
                thread.start()
            }
        }
    }
}
