// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Subprocess
import TestSupport

/// A run of the built `sync-child` program.
struct ChildProcess {
    /// How the process ended.
    enum End: Hashable {
        case exited(Int32)
        case signal(Int32)
    }

    let end: End
    /// The lines that the process printed.
    let lines: [String]

    /// Runs the program with these arguments until it ends.
    static func run(_ arguments: [String]) async throws -> ChildProcess {
        let result = try await Subprocess.run(
            .name("env"), arguments: Arguments([try builtProgram("sync-child").path] + arguments),
            output: .string(limit: 1 << 20), error: .discarded)
        let end: End =
            switch result.terminationStatus {
            case .exited(let code): .exited(Int32(code))
            case .signaled(let signal): .signal(Int32(signal))
            }
        let output = result.standardOutput
        return ChildProcess(end: end, lines: output.split(separator: "\n").map(String.init))
    }
}
