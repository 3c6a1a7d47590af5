// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// How often each event of a run happened. A long run proves nothing about an event that never happened.
public struct SimulationCoverage: Sendable {
    /// Something that can happen in a run, besides pairs of acts.
    enum Event: Sendable, Hashable, CustomStringConvertible {
        case fault(NetworkFault, RequestPhase)
        case store(StoreFault.Kind)
        /// A response with a status of this hundred.
        case status(Int, RequestPhase)
        case collapse(CollapseRow)
        case mode(SimulationMode)
        case theme(SimulationTheme)
        case dialect(ModelDialect)
        case tombstonesCollected

        var description: String {
            switch self {
            case .fault(let fault, let phase): "fault \(fault) during \(phase)"
            case .store(let fault): "store \(fault)"
            case .status(let hundred, let phase): "status \(hundred)xx to \(phase)"
            case .collapse(let row): "collapse \(row)"
            case .mode(let mode): "mode \(mode)"
            case .theme(let theme): "theme \(theme)"
            case .dialect(let dialect): "dialect \(dialect)"
            case .tombstonesCollected: "tombstones collected"
            }
        }
    }

    private var events: [Event: Int] = [:]
    /// Pairs of acts: how often the second began while the first was suspended; indexed by their order.
    private var pairs = [Int](repeating: 0, count: Act.Feature.allCases.count * Act.Feature.allCases.count)

    /// Makes empty counts.
    public init() {}

    /// The counts by name, as `fault lostResponse during update`.
    public var counts: [String: Int] {
        Dictionary(uniqueKeysWithValues: events.map { ($0.key.description, $0.value) })
    }

    func contains(_ event: Event) -> Bool { events[event] != nil }

    mutating func count(_ event: Event) { events[event, default: 0] += 1 }

    mutating func count(_ second: Act.Feature, during first: Act.Feature) {
        pairs[first.rawValue * Act.Feature.allCases.count + second.rawValue] += 1
    }

    /// Adds the counts of another run.
    public mutating func merge(_ other: SimulationCoverage) {
        events.merge(other.events, uniquingKeysWith: +)
        for index in pairs.indices { pairs[index] += other.pairs[index] }
    }

    /// What has to happen in a long run and did not.
    public var missing: [String] {
        Self.required.filter { events[$0] == nil }.map(\.description) + missingPairs
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

    /// Everything that a long run has to count, besides pairs of acts.
    static let required: [Event] = {
        var events: [Event] = []
        for fault in NetworkFault.allCases {
            for phase in RequestPhase.allCases where fault.concerns(phase) {
                events.append(.fault(fault, phase))
            }
        }
        for fault in StoreFault.Kind.allCases { events.append(.store(fault)) }
        for hundred in 2...5 {
            for phase in RequestPhase.allCases { events.append(.status(hundred, phase)) }
        }
        for row in CollapseRow.required { events.append(.collapse(row)) }
        for mode in SimulationMode.allCases { events.append(.mode(mode)) }
        for theme in SimulationTheme.allCases { events.append(.theme(theme)) }
        for dialect in ModelDialect.allCases { events.append(.dialect(dialect)) }
        return events
    }()
}

/// What a request asks for.
enum RequestPhase: Sendable, CaseIterable {
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
