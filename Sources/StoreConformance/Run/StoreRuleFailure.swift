// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import Foundation

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
    /// The command that repeats the check, or the call if the harness has no program.
    public let repetition: String
    /// What to do if the difference is intended.
    public let remedy: String
}

extension StoreRuleFailure: CustomStringConvertible {
    /// The report of the failure.
    public var description: String {
        """
        \(store) breaks \(ruleID): \(sentence)
          \(subject)
          expected: \(expected)
          actual:   \(actual)
          operations:
        \(operations.map { "    \($0)" }.joined(separator: "\n"))
          seed: \(seed); repeat with: \(repetition)
          \(remedy)
        """
    }
}

extension StoreRuleFailure: LocalizedError {
    /// The report.
    public var errorDescription: String? { description }
}

extension StoreRule {
    /// Returns the command that repeats a check, or the call if the harness has no program of its own.
    func repetition(on harness: any StoreHarness, seed: UInt64, effort: SuiteEffort) -> String {
        guard let program = harness.child, program.arguments.first == "child",
            let store = program.arguments.last
        else { return "StoreRule.named(\"\(id)\")?.check(harness, seed: \(seed))" }
        let name = program.executable.split(separator: "/").last.map(String.init) ?? program.executable
        return "\(name) \(arguments(seed: seed, effort: effort)) --store \(store)"
    }

    private func arguments(seed: UInt64, effort: SuiteEffort) -> String {
        func option(_ name: String, _ value: Int, _ standard: Int) -> String {
            value == standard ? "" : " --\(name) \(value)"
        }
        switch id {
        case "model.scripts":
            return "replay \(seed)\(option("length", effort.modelLength, SuiteEffort.standard.modelLength))"
        case "crash.any-time":
            return
                "run --rule \(id) --seed \(seed)\(option("kills", effort.kills, SuiteEffort.standard.kills))"
        default: return "run --rule \(id) --seed \(seed)"
        }
    }
}
