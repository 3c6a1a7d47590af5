// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import StoreConformance
import StoreConformanceMutants

struct MutantsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mutants",
        abstract: "Check mutants, stores with a deliberate flaw, and report which the rules detect.")

    @Option(help: "The base store of mutants. (default: memory, or the first store)")
    var store: String?

    @Option(
        help: "The base store of mutants that require durability. (default: sqlite, or the first store)")
    var durableStore: String?

    @Option(
        help: "The maximum number of actions and reads of random scripts to detect a mutant; 0 skips them.")
    var modelSteps = 0

    @Option(help: "Checks only mutants whose ids have this prefix.")
    var only = ""

    @Flag(help: "Checks legal variants without the rules of the level full, which take longest.")
    var quick = false

    @Flag(help: "Also prints the number of actions and reads before random scripts detect a mutant.")
    var verbose = false

    @Flag(help: "Checks the mutants with every rule and lists the rules that detect each.")
    var matrix = false

    @Option(help: "With --matrix, uses only rules whose ids have this prefix; may be repeated.")
    var rule: [String] = []

    func validate() throws {
        guard modelSteps >= 0 else {
            throw ValidationError("The value of --model-steps must not be negative.")
        }
        guard matrix || rule.isEmpty else { throw ValidationError("--rule needs --matrix.") }
    }

    func run() async throws {
        if let store { try ConformanceCommand.runExecutable(at: store) }
        let variants = StoreMutant.variants.filter { $0.id.hasPrefix(only) }
        guard !variants.isEmpty || StoreMutant.all.contains(where: { $0.id.hasPrefix(only) }) else {
            throw ValidationError("No mutant id has the prefix '\(only)'.")
        }
        if matrix { return try await printMatrix() }
        var rows: [StoreMutant.Kind: Row] = [:]
        var failures = 0
        let progress = CheckProgress(
            of: "mutants", total: StoreMutant.all.count { $0.id.hasPrefix(only) } + variants.count)
        for mutant in StoreMutant.all where mutant.id.hasPrefix(only) {
            progress.advance(to: mutant.id)
            let base = try base(of: mutant)
            let trial = await mutant.trial(of: base)
            if let reason = trial.skipReason {
                printNow("\(mutant.id) is not checked: \(reason)")
                continue
            }
            var row = rows[mutant.kind] ?? Row()
            row.total += 1
            if let reason = trial.failureReason {
                failures += 1
                printNow("\(mutant.id) survives: \(reason)")
            } else {
                row.killed += 1
            }
            if modelSteps > 0, mutant.isSemantic {
                row.semantic += 1
                if let steps = await mutant.stepsUntilFound(of: base, limit: modelSteps) {
                    row.found += 1
                    if verbose {
                        printNow("\(mutant.id) is detected by random scripts within \(steps) steps.")
                    }
                } else {
                    printNow("\(mutant.id) is not detected by random scripts.")
                }
            }
            rows[mutant.kind] = row
        }
        print(
            "kind          killed by its rules"
                + (modelSteps > 0 ? "   detected by random scripts alone" : ""))
        for kind in StoreMutant.Kind.allCases {
            if let row = rows[kind] { print(row.line(kind.rawValue, modelSteps > 0)) }
        }
        print(rows.values.reduce(into: Row()) { $0.add($1) }.line("all", modelSteps > 0))
        var accepted = 0
        for variant in variants {
            progress.advance(to: variant.id)
            let rules = StoreRule.all.filter { !quick || $0.level != .full }
            let trial = await variant.acceptance(of: try base(of: variant), rules: rules)
            if let reason = trial.failureReason {
                failures += 1
                print("\(variant.id) is rejected: \(reason)")
            } else {
                accepted += 1
            }
        }
        if !variants.isEmpty { print("legal variants: \(accepted) accepted of \(variants.count)") }
        if failures > 0 { throw ExitCode.failure }
    }

    private func base(of mutant: StoreMutant) throws -> any StoreHarness {
        let (wanted, usual) = mutant.needsDurableStore ? (durableStore, "sqlite") : (store, "memory")
        let names = ConformanceCommand.storeNames
        let name = wanted ?? (names.contains(usual) ? usual : names.first ?? usual)
        return try ConformanceCommand.harness(named: name)
    }

    private func printMatrix() async throws {
        let rules = try StoreRule.rules(withPrefixes: rule).filter { $0.untestedReason == nil }
        for mutant in StoreMutant.all where mutant.id.hasPrefix(only) {
            let harness = MutantHarness(mutant, of: try base(of: mutant))
            var detecting: [String] = []
            for rule in rules {
                do {
                    try await rule.check(
                        harness, effort: SuiteEffort(modelScripts: 2, modelLength: 200, kills: 0))
                } catch {
                    detecting.append(rule.id)
                }
            }
            print("\(mutant.id): \(detecting.joined(separator: " "))")
        }
    }
}

private struct Row {
    var killed = 0
    var total = 0
    var found = 0
    var semantic = 0

    mutating func add(_ other: Row) {
        killed += other.killed
        total += other.total
        found += other.found
        semantic += other.semantic
    }

    func line(_ name: String, _ withModel: Bool) -> String {
        let start = name + String(repeating: " ", count: max(0, 14 - name.count)) + "\(killed) of \(total)"
        guard withModel else { return start }
        return start + String(repeating: " ", count: max(1, 40 - start.count)) + "\(found) of \(semantic)"
    }
}
