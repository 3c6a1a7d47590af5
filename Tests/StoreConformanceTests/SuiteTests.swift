// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import StoreConformanceMutants
import SyncCore
import Testing

/// The suite's promises about itself.
struct SuiteTests {
    @Test func `there are a hundred and fifty clauses and more, each with an id of its own`() {
        #expect(StoreRule.clauses.count >= 150)
        #expect(Set(StoreRule.clauses.map(\.id)).count == StoreRule.clauses.count)
        #expect(StoreRule.clauses.allSatisfy { $0.sentence.hasSuffix(".") && $0.sentence.count > 10 })
    }

    @Test func `every clause has a check, or says why not`() {
        let unchecked = StoreRule.clauses.filter { $0.untestedReason != nil }
        #expect(unchecked.count + StoreRule.all.count == StoreRule.clauses.count)
        #expect(unchecked.count < 10)
    }

    @Test func `every check is proven by a mutant`() {
        let proven = Set(StoreMutant.all.flatMap(\.killers))
        #expect(StoreRule.all.map(\.id).filter { !proven.contains($0) } == [])
        #expect(proven.filter { StoreRule.named($0) == nil } == [])
    }

    @Test func `there are eighty mutants and more, three and more of a kind, and twelve variants`() {
        #expect(StoreMutant.all.count >= 80)
        #expect(StoreMutant.variants.count >= 12)
        for kind in StoreMutant.Kind.allCases where kind != .legal {
            #expect(StoreMutant.all.count { $0.kind == kind } >= 3, "\(kind)")
        }
        #expect(Set(StoreMutant.all.map(\.id)).count == StoreMutant.all.count)
    }

    @Test func `no rule of core is about some stores only`() {
        #expect(StoreRule.all.filter { $0.level == .core && $0.need != nil }.map(\.id) == [])
    }

    @Test(arguments: StorePower.allCases) func `a power is checked from both sides`(power: StorePower) {
        #expect(StoreRule.all.contains { $0.need == .declared(power) })
        #expect(StoreRule.all.contains { $0.need == .undeclared(power) })
    }

    @Test func `a rule that a store declares to differ on is skipped, with the reason`() async throws {
        let rule = try #require(StoreRule.named("item.upsert.adds"))
        #expect(try await rule.check(Differing()) == .skipped("Declared difference: It is read-only."))
        let report = try await ConformanceReport.checking(Differing(), rules: [rule])
        #expect(report.standing(.core) == .notConformant)
    }

    @Test func `a failure tells all that its reader needs`() async throws {
        let mutant = try #require(StoreMutant.named("write.merges"))
        let rule = try #require(StoreRule.named("item.upsert.replaces-whole"))
        do {
            try await rule.check(MutantHarness(mutant, of: MemoryHarness()), seed: 77)
            Issue.record("The mutant was let pass.")
        } catch let failure as StoreRuleFailure {
            #expect(failure.ruleID == rule.id)
            #expect(failure.expected == "Item(\"a\" [\"mark\": \"new\"])")
            #expect(failure.actual == "Item(\"a\" [\"count\": 1, \"label\": \"old\", \"mark\": \"new\"])")
            #expect(
                failure.operations.contains {
                    $0.contains("upsert in Thing: Item(\"a\" [\"mark\": \"new\"])")
                })
            for part in [rule.id, rule.sentence, "seed: 77", "declaredDifferences"] {
                #expect(failure.description.contains(part))
            }
        }
    }

    @Test func `a check that is stuck ends`() async throws {
        let rule = try #require(StoreRule.named("item.get.missing"))
        await #expect(throws: StoreRuleFailure.self) {
            try await rule.check(StuckHarness(), limit: .milliseconds(200))
        }
    }

    @Test func `a difference of random scripts is shrunk to a few steps`() async throws {
        let mutant = try #require(StoreMutant.named("queue.removal-of-error"))
        let rule = try #require(StoreRule.named("model.scripts"))
        do {
            try await rule.check(MutantHarness(mutant, of: MemoryHarness()))
            Issue.record("The mutant was let pass.")
        } catch let failure as StoreRuleFailure {
            #expect(failure.operations.count <= 6, "\(failure)")
        }
    }

    @Test func `a report is written in every form`() async throws {
        let mutant = try #require(StoreMutant.named("types.line-ends"))
        let rules = StoreRule.all.filter { $0.family == "value" }
        let report = try await ConformanceReport.checking(
            MutantHarness(mutant, of: MemoryHarness()), rules: rules)
        #expect(report.failures.map(\.ruleID) == ["value.text"])
        let json = try ItemValue(json: report.json)
        guard case .object(let fields) = json, case .array(let listed) = fields["rules"] else {
            Issue.record("The JSON is no report.")
            return
        }
        #expect(listed.count == rules.count)
        #expect(report.junit.contains("failures=\"1\""))
        #expect(report.markdown.contains("## Broken: value.text"))
        #expect(report.badge.contains("not conformant"))
        #expect(report.html.contains("breaks value.text"))
    }
}

private struct Differing: StoreHarness {
    func open(at path: String, tables: [SyncTableDefinition]) throws -> any SyncContextDataSource {
        try MemoryHarness().open(at: path, tables: tables)
    }

    var declaredDifferences: [String: String] { ["item.upsert.adds": "It is read-only."] }
}

/// A store that takes its time to open: longer than the check's limit.
private struct StuckHarness: StoreHarness {
    func open(at path: String, tables: [SyncTableDefinition]) throws -> any SyncContextDataSource {
        _ = DispatchSemaphore(value: 0).wait(timeout: .now() + 1)
        return try MemoryHarness().open(at: path, tables: tables)
    }
}
