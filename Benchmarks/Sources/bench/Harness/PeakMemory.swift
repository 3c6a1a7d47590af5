// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The most memory that a process has had, in bytes.
struct PeakMemory: Sendable, Codable {
    /// All pages in memory, those of mapped files included, which the system takes back when it needs them.
    let resident: Int
    /// Those that belong to no file: what the program itself holds.
    let own: Int

    /// Looks again and again while the body runs.
    static func during(_ body: () async throws -> Void) async throws -> PeakMemory {
        let watch = Task {
            var own = 0
            while !Task.isCancelled {
                own = max(own, value("RssAnon"))
                try? await Task.sleep(for: .milliseconds(20))
            }
            return own
        }
        defer { watch.cancel() }
        try await body()
        watch.cancel()
        return PeakMemory(resident: value("VmHWM"), own: await watch.value)
    }

    /// A size from the process's status; 0 where the system has no such file.
    private static func value(_ name: String) -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") }
        return (line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0) << 10
    }
}

/// This program, run once more.
enum ChildProcess {
    /// Runs it with the arguments and returns what it prints.
    static func run(_ arguments: [String]) async throws -> Data {
        let process = Process()
        process.executableURL = URL(filePath: CommandLine.arguments[0])
        if let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") {
            process.executableURL = URL(filePath: path)
        }
        process.arguments = arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw WrongResult(
                "'\(arguments.joined(separator: " "))' ended with \(process.terminationStatus).")
        }
        return output
    }
}
