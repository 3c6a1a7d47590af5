// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreConformance
import StoreConformanceMutants
import Testing

/// Connection faults that have no effect would let every store pass.
struct InertFaultTests {
    private static let rules = StoreRule.all.filter { $0.requirement == .connectionFaults }

    @Test(arguments: rules) func `a rule about connections fails when its fault has no effect`(
        rule: StoreRule
    )
        async throws
    {
        let mutant = try #require(StoreMutant.named("connection.inert-faults"))
        let failure = try await #require(throws: StoreRuleFailure.self) {
            try await rule.check(MutantHarness(mutant, of: MemoryHarness()))
        }
        #expect(failure.subject.hasPrefix("The injected fault had no effect"))
        let hooks = ["closeConnections()", "setAcceptsConnections(false)", "failNextCommit("]
        #expect(hooks.contains { failure.subject.contains($0) }, "\(failure.subject)")
        #expect(failure.actual == "0")
    }

    @Test(arguments: rules) func `a store that connects again after many calls conforms`(rule: StoreRule)
        async throws
    {
        let variant = try #require(StoreMutant.named("legal.slow-reconnect"))
        let harness = MutantHarness(variant, of: MemoryHarness())
        let faults = try #require(harness.connectionFaults)
        guard case .passed = try await rule.check(harness) else {
            Issue.record("\(rule.id) was not checked.")
            return
        }
        #expect(faults.injectedCount > 0)
    }
}
