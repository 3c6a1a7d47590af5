// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A seeded generator (SplitMix64).
struct SimulationRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(_ keys: UInt64...) {
        state = 0x9E37_79B9_7F4A_7C15
        for key in keys {
            state ^= key &+ 0x9E37_79B9_7F4A_7C15
            _ = next()
        }
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// Returns a number from zero to below the bound.
    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

    /// Returns whether an event of that probability, in percent, happens.
    mutating func percent(_ probability: Int) -> Bool { below(100) < probability }

    mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

    /// Returns a number from zero to below the bound, whose magnitudes are equally likely.
    mutating func logUniform(below bound: Int64) -> Int64 {
        let bits = max(1, 64 - bound.leadingZeroBitCount)
        return Int64(next() & ((1 << UInt64(below(bits))) &- 1)) % max(1, bound)
    }

    /// The purposes of draws. Each has a stream of its own, so that a draw for one does not shift those of another.
    enum Stream: UInt64, Sendable {
        case system = 1, act, script, schedule, network, device, resolver, delegate, healing, laterRow,
            theme, automaticSync, liveQuery, returnedRow, dialect, deviceClock, refresh, serverColumns
    }
}

/// The act that the current task performs: faults are drawn by act, so that removing an act from a script does not
/// change those of other acts.
enum CurrentAct {
    @TaskLocal static var number: UInt64 = 0
}
