// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Subprocess
import TestSupport
import Testing

/// Runs the built `todo` program in a process, with a separate data directory.
struct TodoProcess {
    let directory: URL

    /// The result of a run.
    struct Run {
        let status: Int32
        let output: String
        let errors: String
    }

    /// Runs the body with a fresh data directory, which is removed afterwards.
    static func withDirectory(_ body: (TodoProcess) async throws -> Void) async throws {
        try await withTemporaryDirectory {
            try await body(TodoProcess(directory: $0.appending(path: "data")))
        }
    }

    /// Runs `todo` with these arguments and without a terminal, until it ends.
    func run(_ arguments: String...) async throws -> Run { try await run(arguments) }

    /// Runs `todo` with these arguments and without a terminal, until it ends.
    func run(_ arguments: [String]) async throws -> Run {
        let program = try builtProgram("todo").path
        let result = try await Subprocess.run(
            .name("env"), arguments: Arguments([program, "--data", directory.path] + arguments),
            output: .string(limit: 1 << 20), error: .string(limit: 1 << 20))
        let status: Int32? = if case .exited(let code) = result.terminationStatus { code } else { nil }
        return Run(
            status: try #require(status), output: result.standardOutput,
            errors: result.standardError)
    }
}
