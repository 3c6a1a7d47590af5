// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import StoreConformance
import StoreConformanceMutants

struct RootCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync-conformance", abstract: "Checks stores against the store contract.",
        subcommands: [
            RunCommand.self, ListCommand.self, ExplainCommand.self, ReplayCommand.self, MutantsCommand.self,
            ChildCommand.self,
        ])
}

/// Which store, and how thoroughly.
struct StoreOptions: ParsableArguments {
    @Option(help: "A registered store, or the path of an executable that registers its own.")
    var store: String

    @Option(help: "The seed of everything random.")
    var seed: UInt64 = StoreRule.defaultSeed

    @Option(help: "How many random scripts the model machine runs.")
    var scripts: Int = SuiteEffort.standard.modelScripts

    @Option(help: "How long each script is.")
    var length: Int = SuiteEffort.standard.modelLength

    @Option(help: "How many times a child process is killed.")
    var kills: Int = SuiteEffort.standard.kills

    var effort: SuiteEffort { SuiteEffort(modelScripts: scripts, modelLength: length, kills: kills) }

    /// Hands over to another executable when the store is one.
    func handOver() throws { try ConformanceCommand.handOver(to: store) }
}

struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Checks a store against all rules, or some.")

    @OptionGroup var options: StoreOptions

    @Option(help: "Only the rules whose ids begin so; may be given several times.")
    var rule: [String] = []

    @Option(help: "A directory for report.json, junit.xml, report.md, badge.svg and report.html.")
    var reports: String?

    @Flag(help: "Say every rule, not only those that are broken.")
    var verbose = false

    func run() async throws {
        try options.handOver()
        let harness = try ConformanceCommand.harness(named: options.store)
        let rules = StoreRule.clauses.filter { clause in
            rule.isEmpty || rule.contains { clause.id.hasPrefix($0) }
        }
        guard !rules.isEmpty else { throw ValidationError("There is no such rule; see 'list'.") }
        let start = ContinuousClock.now
        let report = try await ConformanceReport.checking(
            harness, rules: rules, seed: options.seed, effort: options.effort
        ) { result in
            if let failure = result.failure { print("\(failure)\n") }
            if verbose { print("\(result.status.rawValue) \(result.rule.id) \(result.reason ?? "")") }
        }
        print(
            "\(report.store): \(report.count(.passed)) of \(rules.count) clauses kept, \(report.count(.failed)) broken, "
                + "\(report.count(.skipped)) skipped, \(report.count(.notApplicable)) not applicable, "
                + "\(report.count(.untested)) untested; \(report.assertions) assertions, seed \(report.seed), "
                + "\(ContinuousClock.now - start)")
        // Levels are about all rules.
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
        for (name, text) in [
            ("junit.xml", report.junit), ("report.md", report.markdown), ("badge.svg", report.badge),
            ("report.html", report.html),
        ] {
            try Data(text.utf8).write(to: url.appendingPathComponent(name))
        }
    }
}

struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists all rules and stores.")

    func run() {
        for rule in StoreRule.clauses {
            let note = rule.untestedReason == nil ? rule.level.rawValue : "untested"
            print("\(rule.id) [\(note)] \(rule.sentence)")
        }
        print("\(StoreRule.clauses.count) clauses, \(StoreRule.all.count) with a check.")
        print("Stores: \(ConformanceCommand.storeNames.joined(separator: ", "))")
    }
}

struct ExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain", abstract: "Tells what a rule is about.")

    @Argument(help: "The rule's id.")
    var rule: String

    func run() throws {
        guard let found = StoreRule.named(rule) else {
            throw ValidationError("There is no rule '\(rule)'; see 'list'.")
        }
        print("\(found.id)\n  \(found.sentence)\n  Level: \(found.level.rawValue)")
        switch found.need {
        case .declared(let power): print("  About stores that declare \(power.declaration).")
        case .undeclared(let power): print("  About stores that do not declare \(power.declaration).")
        case .childProgram: print("  About durable stores whose harness names a child program.")
        case nil: print("  About every store.")
        }
        if let reason = found.untestedReason { print("  Untested: \(reason)") }
        print("  \(found.remedy)")
        for mutant in StoreMutant.all where mutant.killers.contains(found.id) {
            print("  It notices, for example: \(mutant.flaw) (\(mutant.id))")
        }
    }
}

struct ReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Runs the random script of one seed again, and shrinks it if the store differs.")

    @Argument(help: "The script's seed.")
    var script: UInt64

    @OptionGroup var options: StoreOptions

    func run() async throws {
        try options.handOver()
        let harness = try ConformanceCommand.harness(named: options.store)
        guard let rule = StoreRule.named("model.scripts") else { return }
        var effort = options.effort
        effort.modelScripts = 1
        do {
            try await rule.check(harness, seed: script, effort: effort)
            print("The store and the memory store agree on the script of seed \(script).")
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
            throw ValidationError("These are no child's arguments.")
        }
        try child.run(try ConformanceCommand.harness(named: store))
    }
}
