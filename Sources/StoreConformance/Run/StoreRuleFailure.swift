// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The error of a failed check, with the details that the store's author needs.
public struct StoreRuleFailure: Error, Sendable {
    /// The rule's id.
    public let ruleID: String
    /// The clause that was broken.
    public let sentence: String
    /// The store's name.
    public let store: String
    /// What was checked.
    public let subject: String
    /// What the contract requires.
    public let expected: String
    /// What the store returned or did.
    public let actual: String
    /// The calls before the failure, in order.
    public let operations: [String]
    /// The seed of all random values in the check.
    public let seed: UInt64
    /// The length of random checks.
    public let effort: SuiteEffort
    /// What to do if the difference is intended.
    public let remedy: String
}

extension StoreRuleFailure: CustomStringConvertible {
    /// The command-line arguments that repeat the check.
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

    /// The report of the failure.
    public var description: String {
        """
        \(store) breaks \(ruleID): \(sentence)
          \(subject)
          expected: \(expected)
          actual:   \(actual)
          operations:
        \(operations.map { "    \($0)" }.joined(separator: "\n"))
          seed: \(seed); repeat with: sync-conformance \(replay) --store NAME
          \(remedy)
        """
    }
}
