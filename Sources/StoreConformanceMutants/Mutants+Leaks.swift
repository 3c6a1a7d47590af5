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
            let slots = LeakedSlots(count: 126, error: "No reader slot is free.", hits: flaw.hits)
            flaw.read = { base, body in try slots.use { try base.read(body) } }
        }
        StoreMutant(
            .lifecycle, "leaks-writes", "A write whose body throws keeps one of 100 connections.",
            killedBy: "transaction.write-error", message: "Too many connections."
        ) { flaw in
            let slots = LeakedSlots(count: 100, error: "Too many connections.", hits: flaw.hits)
            flaw.write = { base, body in try slots.use { try base.write(body) } }
        }
    }
}

/// A number of slots, of which each failing call keeps one.
private struct LeakedSlots {
    let count: Int
    let error: String
    let hits: MutantHits
    private let failures = Shared(0)

    init(count: Int, error: String, hits: MutantHits) {
        (self.count, self.error, self.hits) = (count, error, hits)
    }

    func use(_ call: () throws -> Void) throws {
        if failures.value >= count {
            hits.hit()
            throw StoreError(.unavailable, error)
        }
        do { try call() } catch {
            _ = failures.next()
            throw error
        }
    }
}
