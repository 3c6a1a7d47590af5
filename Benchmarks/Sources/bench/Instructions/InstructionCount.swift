// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Counts the instructions of a path with Callgrind. They do not depend on the load of the machine, but on the versions of
/// the compiler and of the libraries.
struct InstructionCount {
    /// A copy of this program without debug information, which Valgrind does not understand.
    private let program: URL
    private let directory: URL

    init(directory: URL) throws {
        self.directory = directory
        program = directory.appendingPathComponent("bench")
        guard let executable = Bundle.main.executableURL else {
            throw WrongResult("The path of this program is unknown.")
        }
        try Self.run("strip", ["-o", program.path, executable.path])
    }

    /// Returns the instructions per unit of work.
    func perUnit(of path: CountedPath) throws -> Int {
        let log = directory.appendingPathComponent("callgrind.log")
        let output = try Self.run(
            "valgrind",
            [
                "--tool=callgrind", "--instr-atstart=no", "--callgrind-out-file=/dev/null",
                "--log-file=\(log.path)", program.path, "run-once", path.workload, path.contender,
                directory.path,
            ])
        guard let units = Int(output.trimmingCharacters(in: .whitespacesAndNewlines)), units > 0 else {
            throw WrongResult("\(path.name) did not print its number of units: \(output)")
        }
        let text = try String(contentsOf: log, encoding: .utf8)
        guard let line = text.split(separator: "\n").last(where: { $0.contains("Collected : ") }),
            let count = line.split(separator: " ").last.flatMap({ Int($0) }), count > 0
        else { throw WrongResult("Callgrind counted nothing for \(path.name):\n\(text)") }
        return count / units
    }

    /// Runs a program, and returns its standard output.
    @discardableResult
    private static func run(_ name: String, _ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [name] + arguments
        // The order of dictionaries, and so the count, is the same in each run.
        process.environment = ProcessInfo.processInfo.environment.merging(
            ["SWIFT_DETERMINISTIC_HASHING": "1"]) { _, new in new }
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw WrongResult("'\(name)' ended with status \(process.terminationStatus).")
        }
        return String(decoding: output, as: UTF8.self)
    }
}
