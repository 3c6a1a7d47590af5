// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import SyncCore
import TableServer

struct Demo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Play the tutorials' story with two devices and a server.",
        discussion:
            "Everything happens in this process and in a temporary directory. Of the options only --store counts."
    )

    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("todo-demo-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let configuration = TableServer.Configuration(tables: [.init(TodoItem.definition.name)])
        let isSame = try await withTableServer(configuration) { server in
            var story = try DemoStory(
                server: server, store: options.store, directory: directory, console: .terminal)
            return try await story.play()
        }
        guard isSame else { throw Failure("The rows are not the same everywhere.") }
    }
}
