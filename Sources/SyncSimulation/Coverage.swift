// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// How often things happened that a long run must have seen: a run that never saw one proves nothing about it.
public struct SimulationCoverage: Sendable {
    /// The counts by name, as `fault lostResponse during update`.
    public private(set) var counts: [String: Int] = [:]
    /// Pairs of acts: how often the second began while the first was suspended; indexed by their order.
    private var pairs = [Int](repeating: 0, count: Act.Feature.allCases.count * Act.Feature.allCases.count)

    /// Counts of no run yet.
    public init() {}

    mutating func count(_ name: String) { counts[name, default: 0] += 1 }

    mutating func count(_ second: Act.Feature, during first: Act.Feature) {
        pairs[first.rawValue * Act.Feature.allCases.count + second.rawValue] += 1
    }

    /// Adds the counts of another run.
    public mutating func merge(_ other: SimulationCoverage) {
        counts.merge(other.counts, uniquingKeysWith: +)
        for index in pairs.indices { pairs[index] += other.pairs[index] }
    }

    /// What has to happen in a long run and did not.
    public var missing: [String] {
        Self.required.filter { counts[$0] == nil } + missingPairs
    }

    private var missingPairs: [String] {
        var missing: [String] = []
        for first in Act.Feature.allCases where first.isSuspended {
            for second in Act.Feature.allCases {
                if pairs[first.rawValue * Act.Feature.allCases.count + second.rawValue] == 0 {
                    missing.append("\(second) during \(first)")
                }
            }
        }
        return missing
    }

    /// The number of pairs of acts, and the count of the rarest pair.
    public var pairSummary: (pairs: Int, rarest: Int) {
        var counts: [Int] = []
        for first in Act.Feature.allCases where first.isSuspended {
            for second in Act.Feature.allCases {
                counts.append(pairs[first.rawValue * Act.Feature.allCases.count + second.rawValue])
            }
        }
        return (counts.count { $0 > 0 }, counts.min() ?? 0)
    }

    /// The names of everything that a long run has to count, besides pairs of acts.
    static let required: [String] = {
        var names: [String] = []
        for fault in NetworkFault.allCases {
            for phase in RequestPhase.allCases where fault.concerns(phase) {
                names.append("fault \(fault) during \(phase)")
            }
        }
        for fault in StoreFault.Kind.allCases { names.append("store \(fault)") }
        for status in ["2xx", "3xx", "4xx", "5xx"] {
            for phase in RequestPhase.allCases { names.append("status \(status) to \(phase)") }
        }
        for row in CollapseRow.required { names.append("collapse \(row)") }
        for mode in SimulationMode.allCases { names.append("mode \(mode)") }
        return names
    }()
}

/// What a request asks for.
enum RequestPhase: String, Sendable, CaseIterable {
    case insert, update, delete, undelete, read, list

    var isWrite: Bool { self != .read && self != .list }
}

/// A row of the table of collapses: the last pending operation of an item, and a new change.
struct CollapseRow: Sendable, Hashable, CustomStringConvertible {
    let pending: String
    let isAttempted: Bool
    let change: String
    var description: String { "\(change) after \(isAttempted ? "attempted" : "pending") \(pending)" }

    static let required: [CollapseRow] = [false, true].flatMap { isAttempted in
        [
            CollapseRow(pending: "insert", isAttempted: isAttempted, change: "update"),
            CollapseRow(pending: "insert", isAttempted: isAttempted, change: "delete"),
            CollapseRow(pending: "update", isAttempted: isAttempted, change: "update"),
            CollapseRow(pending: "update", isAttempted: isAttempted, change: "delete"),
            CollapseRow(pending: "delete", isAttempted: isAttempted, change: "insert"),
        ]
    }
}
