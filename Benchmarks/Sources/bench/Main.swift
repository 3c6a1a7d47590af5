// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation

@main
enum Program {
    /// Waits for the commands, because Valgrind cannot run a program whose entry is asynchronous.
    static func main() {
        let isDone = DispatchSemaphore(value: 0)
        Task.detached {
            await Bench.main()
            isDone.signal()
        }
        isDone.wait()
    }
}

struct Bench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measure the framework.",
        subcommands: [Run.self, Instructions.self, Probe.self, RunOnce.self, ServeTable.self],
        defaultSubcommand: Run.self)
}

/// Runs benchmarks.
struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "Measure the framework, and compare it with the minimum work and with a hand-written app.",
        discussion: """
            Every figure is the median of several rounds; each round runs all contenders, one after another. A wrong \
            result ends the program with an error; a missed goal does not.
            """)

    @Option(help: "Run only benchmarks whose names contain this text; can be repeated.")
    var filter: [String] = []

    @Option(help: "Run only contenders with this name, for profiling; can be repeated.")
    var contender: [String] = []

    @Option(help: "The number of rounds, each with every contender.")
    var rounds: Int?

    @Flag(help: "Run a twentieth of each workload once, to check that the benchmarks run.")
    var quick = false

    @Option(help: "Write all measurements to this JSON file.")
    var json: String?

    @Option(help: "Write a report with charts into this directory.")
    var report: String?

    @Option(help: "The directory for databases; the default is the system's temporary directory.")
    var directory: String?

    @Option(help: "A connection string of an empty PostgreSQL database, for benchmarks of servers.")
    var database: String?

    @Flag(help: "List the benchmarks without running them.")
    var list = false

    func run() async throws {
        let scale = quick ? Scale.quick : .full
        let chosen = Workloads.all(scale, database: database).filter { benchmark in
            filter.isEmpty || filter.contains { benchmark.name.contains($0) }
        }
        guard !chosen.isEmpty else {
            throw ValidationError("No benchmark's name contains this text; --list shows all names.")
        }
        if list { return chosen.forEach { print($0.name) } }

        let parent = directory.map { URL(filePath: $0) } ?? FileManager.default.temporaryDirectory
        let runner = Runner(
            rounds: self.rounds ?? (quick ? 1 : 5),
            directory: parent.appendingPathComponent("bench-\(UUID().uuidString)"))
        defer { try? FileManager.default.removeItem(at: runner.directory) }
        let machine = Machine.current(directory: parent)
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

/// Runs one large pull and prints its memory.
struct Probe: AsyncParsableCommand {
    static let configuration = CommandConfiguration(shouldDisplay: false)

    @Argument var store: String
    @Argument var count: Int
    @Argument var path: String

    func run() async throws {
        guard let kind = StoreKind(rawValue: store) else {
            throw ValidationError("The store '\(store)' does not exist.")
        }
        let probe = try await MillionRows.probe(kind, count: count, path: path)
        print(String(decoding: try JSONEncoder().encode(probe), as: UTF8.self))
    }
}
