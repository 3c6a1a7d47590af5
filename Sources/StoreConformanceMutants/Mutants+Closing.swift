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
        StoreMutant(
            .concurrency, "close-drops-waiting",
            "A write that waits while the store is closed returns without an effect.",
            killedBy: "concurrent.close", message: "of the writes that returned beside close",
            needsDurableStore: true
        ) { flaw in
            struct Rollback: Error {}
            let isClosing = Shared(false)
            flaw.close = { base in
                isClosing.change { $0 = true }
                try base.close()
            }
            flaw.write = { [hits = flaw.hits] base, body in
                do {
                    try base.write { transaction in
                        let isDropped = isClosing.value
                        try body(transaction)
                        guard isDropped else { return }
                        hits.hit()
                        throw Rollback()
                    }
                } catch is Rollback {}
            }
        }
        StoreMutant(
            .concurrency, "close-cuts-waiting",
            "A write that waits while the store is closed is committed without its operations.",
            killedBy: "concurrent.close", message: "the operations of the writes that returned beside close",
            needsDurableStore: true
        ) { flaw in
            let isClosing = Shared(false)
            flaw.close = { base in
                isClosing.change { $0 = true }
                try base.close()
            }
            let isCut = Shared(false)
            flaw.write = { base, body in
                try base.write { transaction in
                    isCut.change { $0 = isClosing.value }
                    try body(transaction)
                }
            }
            flaw.putOperation = { [hits = flaw.hits] transaction, operation in
                if isCut.value { hits.hit() } else { try transaction.put(operation) }
            }
        }
    }
}
