// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import StoreConformanceMutants
import SyncCore
import Testing

/// Properties of the suite itself.
struct SuiteTests {
    @Test func `the suite has at least 150 clauses with unique ids`() {
        #expect(StoreRule.clauses.count >= 150)
        #expect(Set(StoreRule.clauses.map(\.id)).count == StoreRule.clauses.count)
        #expect(StoreRule.clauses.allSatisfy { $0.sentence.hasSuffix(".") && $0.sentence.count > 10 })
    }

    @Test func `every clause has a check or a reason for having none`() {
        let unchecked = StoreRule.clauses.filter { $0.untestedReason != nil }
        #expect(unchecked.count + StoreRule.all.count == StoreRule.clauses.count)
        #expect(unchecked.count < 10)
    }

    @Test func `every check detects a mutant`() {
        let proven = Set(StoreMutant.all.flatMap(\.killers))
        #expect(StoreRule.all.map(\.id).filter { !proven.contains($0) } == [])
        #expect(proven.filter { StoreRule.named($0) == nil } == [])
    }

    @Test func `the suite has at least 80 mutants, three of each kind, and twelve legal variants`() {
        #expect(StoreMutant.all.count >= 80)
        #expect(StoreMutant.variants.count >= 12)
        for kind in StoreMutant.Kind.allCases where kind != .legal {
            #expect(StoreMutant.all.count { $0.kind == kind } >= 3, "\(kind)")
        }
        #expect(Set(StoreMutant.all.map(\.id)).count == StoreMutant.all.count)
    }

    @Test func `every core rule applies to every store`() {
        #expect(StoreRule.all.filter { $0.level == .core && $0.requirement != nil }.map(\.id) == [])
    }

    @Test(arguments: StorePower.allCases)
    func `every capability has a rule for stores that declare it and for others`(power: StorePower) {
        #expect(StoreRule.all.contains { $0.requirement == .declared(power) })
        #expect(StoreRule.all.contains { $0.requirement == .undeclared(power) })
    }

    @Test func `a declared difference is skipped with its reason`() async throws {
        let rule = try #require(StoreRule.named("item.upsert.adds"))
        #expect(try await rule.check(Differing()) == .skipped("Declared difference: It is read-only."))
        let report = try await ConformanceReport.checking(Differing(), rules: [rule])
        #expect(report.standing(.core) == .notConformant)
    }

    @Test func `a failure describes the rule, the calls and the difference`() async throws {
        let mutant = try #require(StoreMutant.named("write.merges"))
        let rule = try #require(StoreRule.named("item.upsert.replaces-whole"))
        do {
            try await rule.check(MutantHarness(mutant, of: MemoryHarness()), seed: 77)
            Issue.record("The mutant was not detected.")
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

    @Test func `a stuck check fails after its time limit`() async throws {
        let rule = try #require(StoreRule.named("item.get.missing"))
        await #expect(throws: StoreRuleFailure.self) {
            try await rule.check(StuckHarness(), limit: .milliseconds(200))
        }
    }

    @Test func `a difference in a random script is shrunk to a few steps`() async throws {
        let mutant = try #require(StoreMutant.named("queue.removal-of-error"))
        let rule = try #require(StoreRule.named("model.scripts"))
        do {
            try await rule.check(MutantHarness(mutant, of: MemoryHarness()))
            Issue.record("The mutant was not detected.")
        } catch let failure as StoreRuleFailure {
            #expect(failure.operations.count <= 6, "\(failure)")
        }
    }

    @Test func `a report has JSON, JUnit and Markdown forms`() async throws {
        let mutant = try #require(StoreMutant.named("types.line-ends"))
        let rules = StoreRule.all.filter { $0.family == "value" }
        let report = try await ConformanceReport.checking(
            MutantHarness(mutant, of: MemoryHarness()), rules: rules)
        #expect(report.failures.map(\.ruleID) == ["value.text"])
        let json = try ItemValue(json: report.json)
        guard case .object(let fields) = json, case .array(let listed) = fields["rules"] else {
            Issue.record("The JSON is not a report.")
            return
        }
        #expect(listed.count == rules.count)
        #expect(report.junit.contains("failures=\"1\""))
        #expect(report.markdown.contains("## Broken: value.text"))
    }
}

private struct Differing: StoreHarness {
    func open(at path: String, tables: [SyncTableDefinition]) throws -> any SyncContextDataSource {
        try MemoryHarness().open(at: path, tables: tables)
    }

    var declaredDifferences: [String: String] { ["item.upsert.adds": "It is read-only."] }
}

/// A store that takes longer to open than the check's time limit.
private struct StuckHarness: StoreHarness {
    func open(at path: String, tables: [SyncTableDefinition]) throws -> any SyncContextDataSource {
        _ = DispatchSemaphore(value: 0).wait(timeout: .now() + 1)
        return try MemoryHarness().open(at: path, tables: tables)
    }
}
