// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import StoreConformance
import StoreConformanceMutants

struct RootCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: ConformanceCommand.programName, abstract: "Check stores against the store contract.",
        subcommands: [
            RunCommand.self, ListCommand.self, ExplainCommand.self, ReplayCommand.self, MutantsCommand.self,
            ChildCommand.self,
        ])
}

/// The store to check, and the effort of random checks.
struct StoreOptions: ParsableArguments {
    @Option(help: "The name of a registered store, or the path of an executable with its own store.")
    var store: String

    @Option(help: "The seed of all random values.")
    var seed: UInt64 = StoreRule.defaultSeed

    @Option(help: "The number of random scripts.")
    var scripts: Int = SuiteEffort.standard.modelScripts

    @Option(help: "The length of each script.")
    var length: Int = SuiteEffort.standard.modelLength

    @Option(help: "The number of times that a child process is killed.")
    var kills: Int = SuiteEffort.standard.kills

    var effort: SuiteEffort { SuiteEffort(modelScripts: scripts, modelLength: length, kills: kills) }

    func validate() throws {
        let numbers = [("scripts", scripts), ("length", length), ("kills", kills)]
        for (name, number) in numbers where number < 1 {
            throw ValidationError("The value of --\(name) must be at least 1.")
        }
    }

    /// Runs another executable if the store is a path.
    func runExecutableIfPath() throws { try ConformanceCommand.runExecutable(at: store) }
}

extension StoreRule {
    /// Returns the clauses whose ids have one of the prefixes; all clauses if there are no prefixes.
    ///
    /// - Throws: `ValidationError` when a prefix matches no clause.
    static func rules(withPrefixes prefixes: [String]) throws -> [StoreRule] {
        for prefix in prefixes where !clauses.contains(where: { $0.id.hasPrefix(prefix) }) {
            throw ValidationError("No rule id has the prefix '\(prefix)'; see 'list'.")
        }
        return clauses.filter { clause in
            prefixes.isEmpty || prefixes.contains { clause.id.hasPrefix($0) }
        }
    }
}

struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Check a store against all or some rules.")

    @OptionGroup var options: StoreOptions

    @Option(help: "Checks only rules whose ids have this prefix; may be repeated.")
    var rule: [String] = []

    @Option(help: "A directory for report.json, junit.xml and report.md.")
    var reports: String?

    @Flag(help: "Prints every rule, not only broken ones.")
    var verbose = false

    func run() async throws {
        try options.runExecutableIfPath()
        let harness = try ConformanceCommand.harness(named: options.store)
        let rules = try StoreRule.rules(withPrefixes: rule)
        let start = ContinuousClock.now
        let progress = CheckProgress(of: "rules", total: rules.count)
        let report = try await ConformanceReport.checking(
            harness, rules: rules, seed: options.seed, effort: options.effort
        ) { result in
            progress.advance(to: result.rule.id)
            if let failure = result.failure { printNow("\(failure)\n") }
            if verbose { printNow("\(result.status.rawValue) \(result.rule.id) \(result.reason ?? "")") }
        }
        print(
            "\(report.store): \(report.count(.passed)) of \(rules.count) clauses passed, \(report.count(.failed)) failed, "
                + "\(report.count(.skipped)) skipped, \(report.count(.notApplicable)) not applicable, "
                + "\(report.count(.untested)) untested; \(report.assertions) assertions, seed \(report.seed), "
                + "\(ContinuousClock.now - start)")
        // A level needs the results of all rules.
        if rule.isEmpty {
            print(
                StoreLevel.allCases.map { "\($0.rawValue): \(report.standing($0).rawValue)" }.joined(
                    separator: "; "))
        }
        if let reports { try write(report, to: reports) }
        if !report.hasNoFailure { throw ExitCode.failure }
    }

    private func write(_ report: ConformanceReport, to directory: String) throws {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let url = URL(fileURLWithPath: directory)
        try report.json.write(to: url.appendingPathComponent("report.json"))
        for (name, text) in [("junit.xml", report.junit), ("report.md", report.markdown)] {
            try Data(text.utf8).write(to: url.appendingPathComponent(name))
        }
    }
}

struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List all rules and stores.")

    func run() {
        for rule in StoreRule.clauses {
            let level = rule.untestedReason == nil ? rule.level.rawValue : "untested"
            print("\(rule.id) [\(level)] \(rule.sentence)")
        }
        print("\(StoreRule.clauses.count) clauses, \(StoreRule.all.count) with a check.")
        print("Stores: \(ConformanceCommand.storeNames.joined(separator: ", "))")
    }
}

struct ExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain", abstract: "Explain a rule.")

    @Argument(help: "The rule's id.")
    var rule: String

    func run() throws {
        guard let found = StoreRule.named(rule) else {
            throw ValidationError("The rule '\(rule)' does not exist; see 'list'.")
        }
        print("\(found.id)\n  \(found.sentence)\n  Level: \(found.level.rawValue)")
        print("  \(found.requirement?.sentence ?? "Applies to every store.")")
        if let reason = found.untestedReason { print("  Untested: \(reason)") }
        print("  \(found.remedy)")
        for mutant in StoreMutant.all where mutant.killers.contains(found.id) {
            print("  Detects, for example: \(mutant.flaw) (\(mutant.id))")
        }
    }
}

struct ReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract:
            "Repeat the random script of a seed, and shrink it if the store differs from the memory store.")

    @Argument(help: "The script's seed.")
    var script: UInt64

    @OptionGroup var options: StoreOptions

    func run() async throws {
        try options.runExecutableIfPath()
        let harness = try ConformanceCommand.harness(named: options.store)
        guard let rule = StoreRule.named("model.scripts") else { return }
        var effort = options.effort
        effort.modelScripts = 1
        do {
            try await rule.check(harness, seed: script, effort: effort)
            print("The store and the memory store have the same results for the script with seed \(script).")
        } catch {
            print(error)
            throw ExitCode.failure
        }
    }
}

struct ChildCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "child", shouldDisplay: false)

    @Argument var store: String
    @Argument(parsing: .captureForPassthrough) var arguments: [String]

    func run() throws {
        guard let child = CrashChild(arguments: arguments) else {
            throw ValidationError("These are not the arguments of a child process.")
        }
        try child.run(try ConformanceCommand.harness(named: store))
    }
}
