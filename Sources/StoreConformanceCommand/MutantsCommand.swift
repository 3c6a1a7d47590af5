// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import StoreConformance
import StoreConformanceMutants

struct MutantsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mutants", abstract: "Puts broken stores to the rules, and tells which were noticed.")

    @Option(help: "The store that mutants are made of. (default: memory, or the first there is)")
    var store: String?

    @Option(
        help: "The store that mutants are made of that need files. (default: sqlite, or the first there is)")
    var durableStore: String?

    @Option(
        help: "How many acts and questions the model machine may take to notice a mutant; 0 leaves it out.")
    var modelActs = 0

    @Option(help: "Only the mutants whose ids begin so.")
    var only = ""

    @Flag(help: "Say also how soon the model machine notices a mutant.")
    var verbose = false

    @Flag(help: "Put the mutants to every rule, and list the rules that notice each.")
    var matrix = false

    @Option(help: "Only the rules whose ids begin so, for the matrix.")
    var rule: [String] = []

    func run() async throws {
        if let store { try ConformanceCommand.handOver(to: store) }
        let variants = StoreMutant.variants.filter { $0.id.hasPrefix(only) }
        guard !variants.isEmpty || StoreMutant.all.contains(where: { $0.id.hasPrefix(only) }) else {
            throw ValidationError("There is no mutant whose id begins with '\(only)'.")
        }
        if matrix { return try await printMatrix() }
        var rows: [StoreMutant.Kind: Row] = [:]
        var complaints = 0
        for mutant in StoreMutant.all where mutant.id.hasPrefix(only) {
            let base = try base(of: mutant)
            let trial = await mutant.trial(of: base)
            var row = rows[mutant.kind] ?? Row()
            row.total += 1
            if let complaint = trial.complaint {
                complaints += 1
                say("\(mutant.id) survives: \(complaint)")
            } else {
                row.killed += 1
            }
            if modelActs > 0, mutant.isSemantic {
                row.semantic += 1
                if let acts = await mutant.actsUntilFound(of: base, limit: modelActs) {
                    row.found += 1
                    if verbose { say("\(mutant.id) is found by the model machine within \(acts) acts.") }
                } else {
                    say("\(mutant.id) is not found by the model machine.")
                }
            }
            rows[mutant.kind] = row
        }
        print(
            "class         killed by a named rule"
                + (modelActs > 0 ? "   found by the model machine alone" : ""))
        for kind in StoreMutant.Kind.allCases {
            if let row = rows[kind] { print(row.line(kind.rawValue, modelActs > 0)) }
        }
        print(rows.values.reduce(into: Row()) { $0.add($1) }.line("all", modelActs > 0))
        var accepted = 0
        for variant in variants {
            let trial = await variant.acceptance(of: try base(of: variant))
            if let complaint = trial.complaint {
                complaints += 1
                print("\(variant.id) is rejected: \(complaint)")
            } else {
                accepted += 1
            }
        }
        if !variants.isEmpty { print("legal but odd: \(accepted) accepted of \(variants.count)") }
        if complaints > 0 { throw ExitCode.failure }
    }

    /// Prints at once, also into a file: trying all mutants takes a while.
    private func say(_ line: String) {
        print(line)
        fflush(nil)
    }

    private func base(of mutant: StoreMutant) throws -> any StoreHarness {
        let (wanted, usual) = mutant.needsDurableStore ? (durableStore, "sqlite") : (store, "memory")
        let names = ConformanceCommand.storeNames
        let name = wanted ?? (names.contains(usual) ? usual : names.first ?? usual)
        return try ConformanceCommand.harness(named: name)
    }

    private func printMatrix() async throws {
        let rules = rule.isEmpty ? [""] : rule
        for mutant in StoreMutant.all where mutant.id.hasPrefix(only) {
            let harness = MutantHarness(mutant, of: try base(of: mutant))
            var noticing: [String] = []
            for rule in StoreRule.all where rules.contains(where: { rule.id.hasPrefix($0) }) {
                do {
                    try await rule.check(
                        harness, effort: SuiteEffort(modelScripts: 2, modelLength: 200, kills: 0))
                } catch {
                    noticing.append(rule.id)
                }
            }
            print("\(mutant.id): \(noticing.joined(separator: " "))")
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
