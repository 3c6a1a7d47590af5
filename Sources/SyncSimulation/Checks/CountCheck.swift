// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

extension SimulatedSystem {
    /// The counter of every row is the sum of what the users of all devices have counted in it.
    func checkCounts() {
        guard let (table, column) = app.counter(seed: seed) else { return }
        let counts = devices.map { $0.history.snapshot.counts }
        for key in Set(counts.flatMap(\.keys)).sorted(by: { $0.id < $1.id }) {
            let sum = counts.reduce(0) { $0 + ($1[key] ?? 0) }
            let shown = value(of: column, in: server.rows(of: table)[key.id], table) ?? 0
            if shown != sum {
                fail(.count, "\(key).\(column) is \(shown), and its users have counted \(sum).")
            }
        }
    }
}
