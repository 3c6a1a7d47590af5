// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreConformance
import StoreConformanceMutants
import Testing

/// The rules detect every mutant and accept every legal variant.
@Suite(.serialized) struct MutantTests {
    @Test(arguments: StoreMutant.all) func `the rules detect every mutant`(mutant: StoreMutant) async {
        var trial = await self.trial(of: mutant)
        // Whether a race occurs depends on thread scheduling, so these mutants get several attempts.
        for _ in 0..<4 where mutant.kind == .concurrency && trial.failureReason != nil {
            trial = await self.trial(of: mutant)
        }
        #expect(trial.failureReason == nil)
        #expect(trial.skipReason == nil)
        #expect(trial.hits > 0)
    }

    private func trial(of mutant: StoreMutant) async -> MutantTrial {
        mutant.needsDurableStore
            ? await mutant.trial(of: SQLiteHarness()) : await mutant.trial(of: MemoryHarness())
    }

    /// The documented limit is 100 000 actions and reads; most mutants are detected within the first hundreds.
    @Test func `random scripts alone detect three quarters of the mutants`() async {
        let semantic = StoreMutant.all.filter(\.isSemantic)
        var missed: [String] = []
        for mutant in semantic {
            let steps =
                mutant.needsDurableStore
                ? await mutant.stepsUntilFound(of: SQLiteHarness(), limit: 4000)
                : await mutant.stepsUntilFound(of: MemoryHarness(), limit: 4000)
            if steps == nil { missed.append(mutant.id) }
        }
        #expect(semantic.count >= 200)
        #expect(missed.count <= semantic.count / 4, "missed: \(missed)")
    }

    @Test(arguments: StoreMutant.variants.filter { !$0.needsDurableStore })
    func `the rules accept every legal variant`(variant: StoreMutant) async {
        let trial = await variant.acceptance(of: MemoryHarness())
        #expect(trial.failureReason == nil)
    }

    @Test(arguments: StoreMutant.variants) func `the rules accept every legal variant of a durable store`(
        variant: StoreMutant
    )
        async
    {
        let rules = StoreRule.all.filter { ["durable", "fault", "close", "capability"].contains($0.family) }
        let trial = await variant.acceptance(of: LMDBHarness(), rules: rules)
        #expect(trial.failureReason == nil)
    }
}
