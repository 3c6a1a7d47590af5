// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// How a seed explores: how it chooses the next job and the features of its script.
enum SimulationMode: String, Sendable, CaseIterable {
    /// Every ready job is equally likely.
    case uniform
    /// As `uniform`, with few features.
    case swarm
    /// Tasks have random priorities, which drop at random steps (PCT): one task can be delayed for a long time.
    case priorities
    /// Jobs run in order, and time passes in sleeps only: the latency of each request decides.
    case keyed
    /// One device and no other writer: the device must never have a conflict.
    case solo

    static func of(seed: UInt64) -> SimulationMode {
        var random = SimulationRandom(seed, 99)
        return random.pick(
            [
                .keyed, .keyed, .keyed, .keyed, .uniform, .uniform, .swarm, .swarm, .swarm, .swarm,
                .priorities, .priorities, .solo, .solo,
            ])
    }
}
