// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
public import StoreConformance
import SyncCore

/// What became of a mutant that was put to the test.
public struct MutantTrial: Sendable {
    /// The mutant.
    public let mutant: StoreMutant
    /// Why it does not count as killed, or as rightly accepted; `nil` when all is well.
    public let complaint: String?
    /// How often its flaw was reached.
    public let hits: Int
}

extension StoreMutant {
    /// Puts the mutant to the rules that must notice it. The first must fail with the right message, the others must
    /// fail; the flaw must have been reached; and none may need to be stuck for it.
    public func trial(of base: some StoreHarness) async -> MutantTrial {
        let harness = MutantHarness(self, of: base)
        for (number, id) in killers.enumerated() {
            guard let rule = StoreRule.named(id) else { return ended(harness, "There is no rule '\(id)'.") }
            do {
                let outcome = try await rule.check(harness, limit: .seconds(300))
                return ended(harness, "\(id) let it pass: \(outcome).")
            } catch let failure as StoreRuleFailure {
                let text = failure.description
                if number == 0, !message.isEmpty, !text.contains(message) {
                    return ended(harness, "\(id) does not say '\(message)':\n\(text)")
                }
                if failure.subject.contains("did not come to an end") {
                    return ended(harness, "\(id) was stuck.")
                }
                if failure.ruleID != id {
                    return ended(harness, "\(failure.ruleID) failed instead of \(id).")
                }
            } catch {
                return ended(harness, "\(id) threw \(error).")
            }
        }
        return ended(harness, harness.hits.count == 0 ? "Its flaw was never reached." : nil)
    }

    /// Puts a legal variant to every rule: all must let it pass.
    public func acceptance(of base: some StoreHarness, rules: [StoreRule] = StoreRule.all) async
        -> MutantTrial
    {
        let harness = MutantHarness(self, of: base)
        for rule in rules {
            do { try await rule.check(harness) } catch { return ended(harness, "\(error)") }
        }
        return ended(harness, harness.hits.count == 0 ? "Its oddity was never reached." : nil)
    }

    /// Looks for the mutant with random scripts alone.
    ///
    /// - Returns: after how many acts and questions at most a script showed a difference; `nil` when none of so many
    ///   did.
    public func actsUntilFound(of base: some StoreHarness, limit: Int = 100_000) async -> Int? {
        await ScriptSearch.stepsUntilDifference(
            of: MutantHarness(self, of: base), reopens: needsDurableStore, limit: limit)
    }

    private func ended(_ harness: MutantHarness, _ complaint: String?) -> MutantTrial {
        MutantTrial(mutant: self, complaint: complaint, hits: harness.hits.count)
    }
}
