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
    /// How often the flaw had an effect.
    public let hits: Int
}

extension StoreMutant {
    /// Checks the mutant with the rules that must kill it: all must fail, the first with the expected message; the flaw
    /// must have had an effect; and no check may be stuck.
    public func trial(of base: some StoreHarness) async -> MutantTrial {
        let harness = MutantHarness(self, of: base)
        for (number, id) in killers.enumerated() {
            guard let rule = StoreRule.named(id) else { return result(harness, "There is no rule '\(id)'.") }
            do {
                let outcome = try await rule.check(harness, limit: .seconds(300))
                return result(harness, "\(id) did not detect it: \(outcome).")
            } catch let failure as StoreRuleFailure {
                let text = failure.description
                if number == 0, !message.isEmpty, !text.contains(message) {
                    return result(harness, "The failure of \(id) does not contain '\(message)':\n\(text)")
                }
                if failure.subject.contains("did not finish") {
                    return result(harness, "\(id) was stuck.")
                }
                if failure.ruleID != id {
                    return result(harness, "\(failure.ruleID) failed instead of \(id).")
                }
            } catch {
                return result(harness, "\(id) threw \(error).")
            }
        }
        return result(harness, harness.hits.count == 0 ? "Its flaw never had an effect." : nil)
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

    private func result(_ harness: MutantHarness, _ failureReason: String?) -> MutantTrial {
        MutantTrial(mutant: self, failureReason: failureReason, hits: harness.hits.count)
    }
}
