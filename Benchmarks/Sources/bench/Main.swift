// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation

@main
struct Bench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measures the framework.", subcommands: [Run.self, Probe.self], defaultSubcommand: Run.self)
}

/// Runs benchmarks.
struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "Measures the framework beside what is possible and what an app's author would have written.",
        discussion: """
            Every figure is the median of several rounds, in each of which all contenders run in turn. A run that \
            comes to a wrong result ends everything with an error; a slow one does not.
            """)

    @Option(help: "Run only benchmarks whose names contain this text; may be repeated.")
    var filter: [String] = []

    @Option(help: "Run only contenders of this name, for profiling; may be repeated.")
    var contender: [String] = []

    @Option(help: "How many rounds, each with every contender.")
    var rounds: Int?

    @Flag(help: "Run a twentieth of each workload, once: to see that all is well, not how fast it is.")
    var quick = false

    @Option(help: "Write all figures to this JSON file.")
    var json: String?

    @Option(help: "Write a report with plots into this directory.")
    var report: String?

    @Option(help: "Where databases are made; the default is the system's temporary directory.")
    var directory: String?

    @Flag(help: "List the benchmarks and run none.")
    var list = false

    func run() async throws {
        let scale = quick ? Scale.quick : .full
        let chosen = Workloads.all(scale).filter { benchmark in
            filter.isEmpty || filter.contains { benchmark.name.contains($0) }
        }
        guard !chosen.isEmpty else { throw ValidationError("No benchmark has such a name; try --list.") }
        if list { return chosen.forEach { print($0.name) } }

        let place = directory.map { URL(filePath: $0) } ?? FileManager.default.temporaryDirectory
        let runner = Runner(
            rounds: self.rounds ?? (quick ? 1 : 5),
            directory: place.appendingPathComponent("bench-\(UUID().uuidString)"))
        defer { try? FileManager.default.removeItem(at: runner.directory) }
        let machine = Machine.current(directory: place)
        print(machine.description)
        var results: [BenchmarkResult] = []
        for benchmark in chosen {
            let result = try await runner.run(benchmark, only: contender)
            print(ConsoleTable(result).text)
            fflush(nil)
            results.append(result)
        }
        let report = Report(machine: machine, isQuick: quick, results: results)
        if let json { try report.json.write(to: URL(filePath: json)) }
        if let directory = self.report { try report.write(to: URL(filePath: directory)) }
    }
}

/// Does one large pull and prints what memory it took.
struct Probe: AsyncParsableCommand {
    static let configuration = CommandConfiguration(shouldDisplay: false)

    @Argument var store: String
    @Argument var count: Int
    @Argument var path: String

    func run() async throws {
        guard let kind = StoreKind(rawValue: store) else { throw ValidationError("There is no such store.") }
        let probe = try await MillionRows.probe(kind, count: count, path: path)
        print(String(decoding: try JSONEncoder().encode(probe), as: UTF8.self))
    }
}
