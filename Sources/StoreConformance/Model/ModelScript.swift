// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A script drawn from a seed: the same seed always gives the same script.
struct ModelScript: Sendable {
    let seed: UInt64
    var steps: [ModelStep]

    /// - Parameters:
    ///   - length: how many acts and questions, about.
    ///   - reopens: whether the store is closed and opened again now and then.
    init(seed: UInt64, length: Int, reopens: Bool) {
        self.seed = seed
        var source = ModelSource(seed: seed)
        steps = []
        var count = 0
        while count < length {
            let next = source.steps(reopens: reopens)
            count += next.reduce(0) { $0 + $1.length }
            steps += next
        }
    }

    /// How many acts and questions there are.
    var length: Int { steps.reduce(0) { $0 + $1.length } }
}

extension ModelStep {
    var length: Int {
        switch self {
        case .write(let acts, _): acts.count
        case .read(let questions, _): questions.count
        case .reopen: 1
        }
    }
}
