// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Searches for a difference between a store and the memory store with random scripts only.
package enum ScriptSearch {
    /// Runs scripts until one shows a difference.
    ///
    /// - Parameters:
    ///   - harness: opens the store.
    ///   - reopens: whether the scripts close and reopen the store at random.
    ///   - limit: the maximum number of actions and reads to try.
    /// - Returns: an upper bound of the number needed; `nil` when the limit was reached.
    package static func stepsUntilDifference(
        of harness: some StoreHarness, reopens: Bool, limit: Int
    ) async -> Int? {
        await withCheckedContinuation { continuation in
            Thread.startDeep {
                continuation.resume(returning: search(harness, reopens: reopens, limit: limit))
            }
        }
    }

    private static func search(_ harness: some StoreHarness, reopens: Bool, limit: Int) -> Int? {
        guard let rule = StoreRule.named("model.scripts"),
            let run = try? RuleRun(rule, harness, seed: StoreRule.defaultSeed, effort: .thorough)
        else { return nil }
        defer { run.cleanUp() }
        let machine = ModelMachine { storeIndex in
            try harness.open(at: try run.path("model\(storeIndex)"), tables: Fixture.tables)
        }
        var (spent, number) = (0, 0)
        while true {
            let script = ModelScript(
                seed: StoreRule.defaultSeed &+ UInt64(number), length: 500, reopens: reopens)
            spent += script.length
            guard spent <= limit else { return nil }
            do { _ = try machine.run(script.steps, at: number) } catch { return spent }
            number += 1
        }
    }
}
