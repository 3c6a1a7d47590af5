// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The peak memory of a process in bytes.
struct PeakMemory: Sendable, Codable {
    /// The resident memory, including pages of mapped files, which the system can reclaim.
    let resident: Int
    /// The resident memory without pages of files.
    let own: Int

    /// Runs the body and samples the memory every 20 milliseconds.
    static func during(_ body: () async throws -> Void) async throws -> PeakMemory {
        let sampling = Task {
            var own = 0
            while !Task.isCancelled {
                own = max(own, value("RssAnon"))
                try? await Task.sleep(for: .milliseconds(20))
            }
            return own
        }
        defer { sampling.cancel() }
        try await body()
        sampling.cancel()
        return PeakMemory(resident: value("VmHWM"), own: await sampling.value)
    }

    /// Returns a size from `/proc/self/status`; 0 on systems without this file.
    private static func value(_ name: String) -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") }
        return (line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0) << 10
    }
}

/// A child process of this program.
enum ChildProcess {
    /// The file of this program.
    static var program: URL {
        let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return URL(filePath: path ?? CommandLine.arguments[0])
    }

    /// Runs this program with the arguments and returns its output.
    static func run(_ arguments: [String]) async throws -> Data {
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw WrongResult(
                "'\(arguments.joined(separator: " "))' ended with the status \(process.terminationStatus).")
        }
        return output
    }
}
