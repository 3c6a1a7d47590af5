// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
public import StoreConformance
import SyncCore

/// The result of checking a mutant.
public struct MutantTrial: Sendable {
    /// The mutant.
    public let mutant: StoreMutant
    /// Why the mutant was not killed, or a legal variant not accepted; `nil` on success.
    public let failureReason: String?
    /// Why the mutant was not checked: its rules do not apply to the base store; `nil` when it was checked.
    public let skipReason: String?
    /// How often the flaw had an effect.
    public let hits: Int
}

extension StoreMutant {
    /// Checks the mutant with the rules that must kill it: all must fail, the first with the expected message; the flaw
    /// must have had an effect; and no check may be stuck.
    ///
    /// Rules that do not apply to the base store, or from which its harness declares a difference, are left out.
    public func trial(of base: some StoreHarness) async -> MutantTrial {
        let harness = MutantHarness(self, of: base)
        if harness.flaw().needsFiles, !base.hasFilesAtPath {
            return result(harness, skipReason: "Its flaw changes files, and the store has none at its path.")
        }
        var reasons: [String] = []
        for (number, id) in killers.enumerated() {
            guard let rule = StoreRule.named(id) else { return result(harness, "There is no rule '\(id)'.") }
            do {
                switch try await rule.check(harness, effort: Self.effort) {
                case .notApplicable(let reason), .skipped(let reason): reasons.append("\(id): \(reason)")
                case .passed: return result(harness, "\(id) did not detect it.")
                }
            } catch let failure as StoreRuleFailure {
                if let problem = problem(in: failure, of: id, isFirst: number == 0) {
                    return result(harness, problem)
                }
            } catch {
                return result(harness, "\(id) threw \(error).")
            }
        }
        if reasons.count == killers.count {
            return result(harness, skipReason: reasons.joined(separator: " "))
        }
        return result(harness, harness.hits.count == 0 ? "Its flaw never had an effect." : nil)
    }

    /// Returns why the failure does not prove that the rule detects the flaw, or `nil` when it does.
    private func problem(in failure: StoreRuleFailure, of id: String, isFirst: Bool) -> String? {
        let text = failure.description
        if isFirst, !message.isEmpty, !text.contains(message) {
            return "The failure of \(id) does not contain '\(message)':\n\(text)"
        }
        if failure.subject.contains("did not finish") { return "\(id) was stuck." }
        return failure.ruleID == id ? nil : "\(failure.ruleID) failed instead of \(id)."
    }

    /// Checks a legal variant with the rules: all must pass.
    public func acceptance(of base: some StoreHarness, rules: [StoreRule] = StoreRule.all) async
        -> MutantTrial
    {
        let harness = MutantHarness(self, of: base)
        for rule in rules {
            do { try await rule.check(harness) } catch { return result(harness, "\(error)") }
        }
        return result(harness, harness.hits.count == 0 ? "Its variation never had an effect." : nil)
    }

    /// Searches for the flaw with random scripts only.
    ///
    /// - Returns: an upper bound of the number of actions and reads before a script showed a difference; `nil` when the
    ///   limit was reached.
    public func stepsUntilFound(of base: some StoreHarness, limit: Int = 100_000) async -> Int? {
        await ScriptSearch.stepsUntilDifference(
            of: MutantHarness(self, of: base), reopens: needsDurableStore, limit: limit)
    }

    /// Mutants that block a thread for ever are detected after a few seconds.
    private static let effort = {
        var effort = SuiteEffort.standard
        effort.patience = 5
        return effort
    }()

    private func result(
        _ harness: MutantHarness, _ failureReason: String? = nil, skipReason: String? = nil
    ) -> MutantTrial {
        MutantTrial(
            mutant: self, failureReason: failureReason, skipReason: skipReason, hits: harness.hits.count)
    }
}
