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

    @Test func `a rule about other processes is skipped without a child program`() async throws {
        let rule = try #require(StoreRule.named("capability.multi-process.processes"))
        #expect(
            try await rule.check(MemoryHarness())
                == .notApplicable(
                    "The store does not declare StoreCapabilities.isMultiProcess."))
        let shared = MutantHarness(
            try #require(StoreMutant.named("capability.no-locks")), of: MemoryHarness())
        #expect(
            try await rule.check(shared)
                == .skipped(
                    "The harness provides no child program; see StoreHarness.child."))
    }

    @Test func `a mutant is not checked with rules from which its base store declares a difference`()
        async throws
    {
        let mutant = try #require(StoreMutant.all.first { $0.killers.count == 1 })
        let trial = await mutant.trial(of: Differing(rule: mutant.killers[0]))
        #expect(trial.skipReason == "\(mutant.killers[0]): Declared difference: It is read-only.")
        #expect(trial.failureReason == nil)
    }

    @Test func `a mutant that changes files is not checked on a store without files`() async throws {
        let mutant = try #require(StoreMutant.named("durability.writes-at-close"))
        let trial = await mutant.trial(of: Recording(removed: Shared([])))
        #expect(trial.skipReason == "Its flaw changes files, and the store has none at its path.")
    }

    @Test(arguments: ["isolation.stores", "durable.server-crash"])
    func `the harness removes the store of each path, also after a failure`(id: String) async throws {
        let removed = Shared<[String]>([])
        let rule = try #require(StoreRule.named(id))
        let mutant = try #require(StoreMutant.named("isolation.shared-ids"))
        let harness = MutantHarness(mutant, of: Recording(removed: removed))
        _ = try? await rule.check(harness)
        let names = Set(removed.value.map { $0.split(separator: "/").suffix(2).joined(separator: "/") })
        #expect(
            names == (id == "isolation.stores" ? ["store/store", "other/store"] : ["capabilities/store"]))
        #expect(removed.value.count == names.count)
    }

    @Test func `a failure shortens long values around their first difference`() async throws {
        let mutant = try #require(StoreMutant.named("concurrency.pieces-in-body"))
        let rule = try #require(StoreRule.named("transaction.large"))
        let failure = try await #require(throws: StoreRuleFailure.self) {
            try await rule.check(MutantHarness(mutant, of: MemoryHarness()))
        }
        #expect(failure.expected.count < 600)
        #expect(failure.actual.count < 600)
        #expect(failure.actual.contains("large0"))
        #expect(failure.operations.allSatisfy { $0.count < 300 })
    }

    @Test func `a failure names the program of the harness`() async throws {
        let rule = try #require(StoreRule.named("item.upsert.replaces-whole"))
        let mutant = try #require(StoreMutant.named("write.merges"))
        for (base, command) in [
            (
                WithProgram(),
                "my-program run --rule item.upsert.replaces-whole --seed 7 --store mine+write.merges"
            ),
            (MemoryHarness(), "StoreRule.named(\"item.upsert.replaces-whole\")?.check(harness, seed: 7)"),
        ] as [(any StoreHarness, String)] {
            let failure = try await #require(throws: StoreRuleFailure.self) {
                try await rule.check(MutantHarness(mutant, of: base), seed: 7)
            }
            #expect(failure.repetition == command)
        }
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
            #expect(failure.localizedDescription == failure.description)
        }
    }

    @Test func `a stuck check fails after its time limit`() async throws {
        let rule = try #require(StoreRule.named("item.get.missing"))
        let harness = StuckHarness()
        defer { harness.release.signal() }
        await #expect(throws: StoreRuleFailure.self) {
            try await rule.check(harness, limit: .milliseconds(200))
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
    var rule = "item.upsert.adds"

    func open(at path: String, tables: [SyncTableDefinition]) throws -> any SyncContextDataSource {
        try MemoryHarness().open(at: path, tables: tables)
    }

    var declaredDifferences: [String: String] { [rule: "It is read-only."] }
}

/// A store that opens only after the check has failed.
private struct StuckHarness: StoreHarness {
    let release = DispatchSemaphore(value: 0)

    func open(at path: String, tables: [SyncTableDefinition]) throws -> any SyncContextDataSource {
        release.wait()
        return try MemoryHarness().open(at: path, tables: tables)
    }
}

/// A store without files that records which paths the suite removes.
private struct Recording: StoreHarness {
    let removed: Shared<[String]>

    func open(at path: String, tables: [SyncTableDefinition]) throws -> any SyncContextDataSource {
        try MemoryHarness().open(at: path, tables: tables)
    }

    func removeStore(at path: String) { removed.change { $0.append(path) } }

    var hasFilesAtPath: Bool { false }
}

private struct WithProgram: StoreHarness {
    func open(at path: String, tables: [SyncTableDefinition]) throws -> any SyncContextDataSource {
        try MemoryHarness().open(at: path, tables: tables)
    }

    var child: ChildProgram? {
        ChildProgram(executable: "/programs/my-program", arguments: ["child", "mine"])
    }
}
