// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreConformance
import SyncCore

extension StoreMutant {
    /// Stores that keep something of each failed read or write.
    @MutantList static var leaks: [StoreMutant] {
        StoreMutant(
            .lifecycle, "leaks-reads", "A read whose body throws keeps one of 126 reader slots.",
            killedBy: "transaction.read-error", message: "No reader slot is free."
        ) { flaw in
            let failures = Shared(0)
            flaw.read = { [hits = flaw.hits] base, body in
                if failures.value >= 126 {
                    hits.hit()
                    throw StoreError(.unavailable, "No reader slot is free.")
                }
                do { try base.read(body) } catch {
                    _ = failures.next()
                    throw error
                }
            }
        }
        StoreMutant(
            .lifecycle, "leaks-writes", "A write whose body throws keeps one of 100 connections.",
            killedBy: "transaction.write-error", message: "Too many connections."
        ) { flaw in
            let failures = Shared(0)
            flaw.write = { [hits = flaw.hits] base, body in
                if failures.value >= 100 {
                    hits.hit()
                    throw StoreError(.unavailable, "Too many connections.")
                }
                do { try base.write(body) } catch {
                    _ = failures.next()
                    throw error
                }
            }
        }
    }
}
