// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreConformance
import Synchronization

/// The simulated server of mutants that lose connections: it records the faults that rules inject.
final class MutantServer: ConnectionFaults {
    struct State: Sendable {
        /// The number of times that all connections were closed.
        var losses = 0
        var crashes = 0
        /// The number of faults that had an effect.
        var injections = 0
        var acceptsConnections = true
        var nextCommit: CommitFault?
        /// The item of the last write, and the number of crashes that were handled by losing it.
        var lastItem: (id: String, table: String)?
        var lostItems = 0
    }

    private let content = Mutex(State())

    var state: State { content.withLock { $0 } }

    func change<T: Sendable>(_ body: @Sendable (inout State) -> T) -> T { content.withLock { body(&$0) } }

    func crash() {
        change { state in
            state.crashes += 1
            state.losses += 1
        }
    }

    func closeConnections() {
        change { state in
            state.losses += 1
            state.injections += 1
        }
    }

    func setAcceptsConnections(_ accepts: Bool) { change { $0.acceptsConnections = accepts } }

    func failNextCommit(_ fault: CommitFault) { change { $0.nextCommit = fault } }

    var injectedCount: Int { state.injections }
}

/// Connection faults that have no effect.
struct InertFaults: ConnectionFaults {
    let hits: MutantHits

    func closeConnections() { hits.hit() }

    func setAcceptsConnections(_ accepts: Bool) { hits.hit() }

    func failNextCommit(_ fault: CommitFault) { hits.hit() }

    var injectedCount: Int { 0 }
}
