// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation

/// Counts instructions, and compares them with recorded counts.
struct Instructions: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Count the instructions of local work, pulls and pushes per unit of work; needs Valgrind.",
        discussion: """
            Fails when a path needs over 5 % more instructions than recorded. Counts depend on the versions of the \
            compiler and of the libraries: those recorded with other ones are not compared.
            """)

    @Option(help: "The file with the recorded counts.")
    var recorded: String

    @Flag(help: "Write the counts into the file instead of comparing them.")
    var record = false

    @Option(help: "Count only paths whose names contain this text; can be repeated.")
    var filter: [String] = []

    func validate() throws {
        guard !record || filter.isEmpty else {
            throw ValidationError(
                "--record writes the counts of all paths, so it cannot be used with --filter.")
        }
    }

    func run() async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
            "bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let versions = "# \(Machine.current(directory: directory).versions)"
        let before = record ? [:] : try recordedCounts(with: versions)
        let counter = try InstructionCount(directory: directory)
        var lines = [versions]
        var grown: [String] = []
        for path in CountedPath.all
        where filter.isEmpty || filter.contains(where: { path.name.contains($0) }) {
            let count = try counter.perUnit(of: path)
            let line = "\(count) \(path.name)"
            lines.append(line)
            let ratio = before[path.name].map { Double(count) / Double($0) }
            print(ratio.map { String(format: "%@: %.3f of the recorded count", line, $0) } ?? line)
            fflush(nil)
            if let ratio, ratio > 1.05 { grown.append(path.name) }
        }
        if record {
            try (lines.joined(separator: "\n") + "\n").write(
                toFile: recorded, atomically: true, encoding: .utf8)
        }
        guard grown.isEmpty else {
            throw WrongResult("More instructions than recorded: \(grown.joined(separator: ", ")).")
        }
    }

    /// Reads the recorded counts: a line with the versions, then lines of a count and a name.
    private func recordedCounts(with versions: String) throws -> [String: Int] {
        let lines = try String(contentsOfFile: recorded, encoding: .utf8).split(separator: "\n")
        guard lines.first.map(String.init) == versions else {
            print("Not compared: the counts were recorded with other versions, \(lines.first ?? "none").")
            return [:]
        }
        var counts: [String: Int] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: " ", maxSplits: 1)
            guard parts.count == 2, let count = Int(parts[0]), count > 0 else {
                throw WrongResult("A line of the recorded counts is not valid: \(line)")
            }
            counts[String(parts[1])] = count
        }
        return counts
    }
}

/// Runs one contender of a workload once, at the reduced size, and prints the number of its units of work.
struct RunOnce: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "run-once", shouldDisplay: false)

    @Argument var workload: String
    @Argument var contender: String
    @Argument var directory: String

    func run() async throws {
        guard let workload = Workloads.all(.quick).first(where: { $0.name == workload }) else {
            throw ValidationError("There is no benchmark '\(workload)'.")
        }
        let runner = Runner(rounds: 1, directory: URL(filePath: directory))
        let result = try await runner.run(workload, only: [contender])
        guard let figures = result.figures.first else {
            throw ValidationError("There is no contender '\(contender)'.")
        }
        print(figures.count)
    }
}
