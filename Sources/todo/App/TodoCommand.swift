// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// A subcommand that uses this device's list.
protocol TodoCommand: AsyncParsableCommand {
    var options: GlobalOptions { get }

    /// Runs the command on the opened list.
    func run(_ app: TodoApp) async throws
}

extension TodoCommand {
    func run() async throws {
        try await options.withTodoApp { try await run($0) }
        try Console.checkOutput()
    }
}
