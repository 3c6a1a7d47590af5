// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A store broke a rule: everything its author needs to see why.
public struct StoreRuleFailure: Error, Sendable {
    /// The rule's id.
    public let ruleID: String
    /// The clause that was broken.
    public let sentence: String
    /// The store's name.
    public let store: String
    /// What was looked at.
    public let subject: String
    /// What the contract asks for.
    public let expected: String
    /// What the store did.
    public let actual: String
    /// The calls that led there, the last one last.
    public let operations: [String]
    /// The seed of everything random in the check.
    public let seed: UInt64
    /// How long random checks went on.
    public let effort: SuiteEffort
    /// What to do when the difference is intended.
    public let remedy: String
}

extension StoreRuleFailure: CustomStringConvertible {
    /// What the command line takes to do the same again.
    private var replay: String {
        switch ruleID {
        case "model.scripts":
            "replay \(seed)\(option("length", effort.modelLength, SuiteEffort.standard.modelLength))"
        case "crash.any-time":
            "run --rule \(ruleID) --seed \(seed)\(option("kills", effort.kills, SuiteEffort.standard.kills))"
        default: "run --rule \(ruleID) --seed \(seed)"
        }
    }

    private func option(_ name: String, _ value: Int, _ standard: Int) -> String {
        value == standard ? "" : " --\(name) \(value)"
    }

    /// All of it, for reading.
    public var description: String {
        """
        \(store) breaks \(ruleID): \(sentence)
          \(subject)
          expected: \(expected)
          actual:   \(actual)
          operations:
        \(operations.map { "    \($0)" }.joined(separator: "\n"))
          seed: \(seed); again: sync-conformance \(replay) --store NAME
          \(remedy)
        """
    }
}
