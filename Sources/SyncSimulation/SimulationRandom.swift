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

    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

    /// Whether an event of that probability (in percent) happens.
    mutating func percent(_ probability: Int) -> Bool { below(100) < probability }

    mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }
}

/// The draws of one act, so that removing another act does not change them.
struct KeyedDraws: Sendable {
    @TaskLocal static var act: UInt64 = 0
}
