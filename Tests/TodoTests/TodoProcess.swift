// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Runs the built `todo` as a process, with a data directory of its own.
struct TodoProcess {
    let directory: URL

    /// How a run ended.
    struct Run {
        let status: Int32
        let output: String
        let errors: String
    }

    /// Runs the body with a fresh data directory, which is removed afterwards.
    static func withDirectory(_ body: (TodoProcess) async throws -> Void) async throws {
        let directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("todo-tests-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        try await body(TodoProcess(directory: directory))
    }

    /// Runs `todo` with these arguments and without a terminal, until it ends.
    func run(_ arguments: String...) async throws -> Run {
        let process = Process()
        process.executableURL = try Self.executable()
        process.arguments = ["--data", directory.path] + arguments
        process.standardInput = FileHandle.nullDevice
        let (output, errors) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = errors
        // What these commands print fits into a pipe, so that it can be read when they have ended.
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            process.terminationHandler = { _ in continuation.resume() }
            do { try process.run() } catch { continuation.resume(throwing: error) }
        }
        return Run(
            status: process.terminationStatus, output: try Self.text(of: output),
            errors: try Self.text(of: errors))
    }

    private static func text(of pipe: Pipe) throws -> String {
        String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    }

    /// The program beside the test bundle.
    private static func executable() throws -> URL {
        let bundles = [Bundle.main] + Bundle.allBundles.filter { $0.bundleURL.pathExtension == "xctest" }
        let candidates = bundles.flatMap { bundle in
            [bundle.bundleURL, bundle.bundleURL.deletingLastPathComponent()].map {
                $0.appendingPathComponent("todo")
            }
        }
        return try #require(candidates.first { FileManager.default.isExecutableFile(atPath: $0.path) })
    }
}
