// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Runs simulations by seed, and shrinks those that fail.
public enum SimulationRun {
    static func acts(_ seed: UInt64, count: Int = 60) -> [Act] {
        var random = SimulationRandom(seed, 5)
        let ids = random.pick([1, 1, 2, 3])
        return (0..<count).map { Act.draw(UInt64($0 + 1), seed: seed, clients: 3, ids: ids) }
    }

    /// Runs one seed.
    public static func run(_ seed: UInt64) throws -> SimulationFailure? {
        try run(seed, acts(seed)).0
    }

    static func run(_ seed: UInt64, _ acts: [Act], isTraced: Bool = false) throws -> (SimulationFailure?, [String]) {
        let simulation = try Simulation(seed: seed, isTraced: isTraced)
        let failure = simulation.run(acts)
        return (failure, simulation.trace.withLock { $0 })
    }

    /// Removes acts while the same invariant fails.
    ///
    /// - Returns: the trace of the shortest failing script.
    public static func shrink(_ seed: UInt64) throws -> [String] {
        var acts = acts(seed)
        guard let first = try run(seed, acts).0 else { return ["no failure"] }
        var size = acts.count / 2
        while size >= 1 {
            var index = 0
            while index < acts.count {
                var fewer = acts
                fewer.removeSubrange(index..<min(index + size, acts.count))
                if let failure = try run(seed, fewer).0, failure.invariant == first.invariant {
                    acts = fewer
                } else {
                    index += size
                }
            }
            size /= 2
        }
        let (failure, trace) = try run(seed, acts, isTraced: true)
        return acts.map(\.description) + trace + ["\(String(describing: failure))"]
    }
}
