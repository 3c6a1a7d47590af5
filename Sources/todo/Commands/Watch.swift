// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import SyncModels
import TableServer

struct Watch: TodoCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the list and every change of it, until Ctrl-C.",
        discussion: """
            Syncs by itself: with the server every few seconds, and after changes that other commands make on this device. \
            Conflicts are left to `todo sync`. The marks are those of `todo list`.
            """)

    @OptionGroup var options: GlobalOptions

    func run(_ app: TodoApp) async throws {
        try await app.watch { await TerminationSignals().next() }
    }
}

extension TodoApp {
    /// Syncs and shows the list after every change, until `end` returns.
    func watch(until end: @escaping @Sendable () async -> Void) async throws {
        var settings = AutoSync.Settings()
        // A server without a change feed is asked every few seconds.
        settings.followsChangeFeed = true
        let sync = AutoSync(
            context, pulls: [TodoItem.all.pull(id: TodoItem.queryID, every: .seconds(5))], settings: settings)
        let screen = WatchScreen(app: self)
        let pages = table.live(TodoItem.all.order(by: \.text)).withSyncStates()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for try await page in pages {
                    try await screen.show(page)
                    try Console.checkOutput()
                }
            }
            group.addTask {
                for await state in sync.states {
                    try await screen.show(state)
                    try Console.checkOutput()
                }
            }
            group.addTask { await sync.run() }
            group.addTask { await end() }
            try await group.next()
            group.cancelAll()
        }
    }
}
