// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import SyncModels
import TableServer

struct Demo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show offline changes and conflicts with two devices and a server.",
        discussion:
            "Runs in this process and in a temporary directory, and ignores all options except --store."
    )

    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("todo-demo-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let remove = { @Sendable () -> Void in try? FileManager.default.removeItem(at: directory) }
        // A signal and a closed pipe would end the process without the `defer`.
        signal(SIGPIPE, SIG_IGN)
        let signals = TerminationSignals(duringStart: {
            remove()
            endProcess(EXIT_FAILURE)
        })
        defer { withExtendedLifetime(signals, remove) }
        let configuration = TableServer.Configuration(tables: [.init(TodoItem.schema.name)])
        let rowsAreEqual = try await withTableServer(configuration) { server in
            var story = try DemoStory(
                server: server, store: options.store, directory: directory, console: .terminal)
            return try await story.play()
        }
        try Console.checkOutput()
        guard rowsAreEqual else { throw Failure("The devices and the server have different rows.") }
    }
}
