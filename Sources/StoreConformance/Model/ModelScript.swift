// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A random script derived from a seed: the same seed always generates the same script.
struct ModelScript: Sendable {
    var steps: [ModelStep]

    /// - Parameters:
    ///   - length: the approximate number of actions and reads.
    ///   - reopens: whether the script closes and reopens the store at random.
    init(seed: UInt64, length: Int, reopens: Bool) {
        var source = ModelSource(seed: seed)
        steps = []
        var count = 0
        while count < length {
            let next = source.steps(reopens: reopens)
            count += next.reduce(0) { $0 + $1.length }
            steps += next
        }
    }

    /// The number of actions and reads.
    var length: Int { steps.reduce(0) { $0 + $1.length } }
}

extension ModelStep {
    var length: Int {
        switch self {
        case .write(let actions, _): actions.count
        case .read(let reads, _): reads.count
        case .reopen: 1
        }
    }
}
