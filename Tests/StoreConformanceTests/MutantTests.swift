// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreConformance
import StoreConformanceMutants
import Testing

/// Broken stores are noticed by the rule that is about them; odd ones are let pass.
@Suite(.serialized) struct MutantTests {
    @Test(arguments: StoreMutant.all) func `a broken store is noticed`(mutant: StoreMutant) async {
        var trial = await self.trial(of: mutant)
        // Whether a race shows depends on how the machine lets the threads meet.
        for _ in 0..<4 where mutant.kind == .concurrency && trial.complaint != nil {
            trial = await self.trial(of: mutant)
        }
        #expect(trial.complaint == nil)
        #expect(trial.hits > 0)
    }

    private func trial(of mutant: StoreMutant) async -> MutantTrial {
        mutant.needsDurableStore
            ? await mutant.trial(of: SQLiteHarness()) : await mutant.trial(of: MemoryHarness())
    }

    /// The promise is a hundred thousand acts; most are found within the first hundreds.
    @Test func `random scripts alone find three quarters of the broken stores`() async {
        let semantic = StoreMutant.all.filter(\.isSemantic)
        var missed: [String] = []
        for mutant in semantic {
            let acts =
                mutant.needsDurableStore
                ? await mutant.actsUntilFound(of: SQLiteHarness(), limit: 4000)
                : await mutant.actsUntilFound(of: MemoryHarness(), limit: 4000)
            if acts == nil { missed.append(mutant.id) }
        }
        #expect(semantic.count >= 200)
        #expect(missed.count <= semantic.count / 4, "missed: \(missed)")
    }

    @Test(arguments: StoreMutant.variants) func `a legal store is let pass`(variant: StoreMutant) async {
        let trial = await variant.acceptance(of: MemoryHarness())
        #expect(trial.complaint == nil)
    }

    @Test(arguments: StoreMutant.variants) func `a legal store in a file is let pass`(variant: StoreMutant)
        async
    {
        let rules = StoreRule.all.filter { ["durable", "fault", "close", "capability"].contains($0.family) }
        let trial = await variant.acceptance(of: LMDBHarness(), rules: rules)
        #expect(trial.complaint == nil)
    }
}
