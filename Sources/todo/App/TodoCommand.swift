// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// A subcommand that works on the list of this device.
protocol TodoCommand: AsyncParsableCommand {
    var options: GlobalOptions { get }

    /// Does the work.
    func run(_ app: TodoApp) async throws
}

extension TodoCommand {
    func run() async throws {
        try await options.withTodoApp { try await run($0) }
    }
}
