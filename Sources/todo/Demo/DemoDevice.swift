// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

/// A device of the demonstration: a store of its own, and somebody who types commands.
struct DemoDevice {
    let name: String
    private let store: StoreChoice
    private let directory: URL
    private let console: Console
    private var dataSource: any SyncContextDataSource
    private(set) var app: TodoApp

    init(
        _ name: String, store: StoreChoice, directory: URL, server: URL, console: Console
    ) throws {
        self.name = name
        self.store = store
        self.directory = directory
        self.console = console
        dataSource = try store.open(in: directory, name: name)
        app = Self.app(over: dataSource, server: server, name: name, console: console)
    }

    /// Closes the app and starts it again with that server.
    mutating func restart(server: URL) async throws {
        if store == .memory {
            console.print("\(name)  (the memory store would forget everything now, so it stays open)")
        } else {
            try await app.context.close()
            dataSource = try store.open(in: directory, name: name)
        }
        app = Self.app(over: dataSource, server: server, name: name, console: console)
    }

    /// Types a command, and shows what it says.
    func type(_ command: String, _ run: (TodoApp) async throws -> Void) async throws {
        console.print("\(console.styled("\(name)> todo", .blue)) \(command)")
        do {
            try await run(app)
        } catch {
            app.console.print("Error: \(await app.explained(error).localizedDescription)")
        }
    }

    /// The id of the item with that text, for typing and for finding.
    func id(of text: String) async throws -> (short: String, full: String) {
        let items = try await app.table.items()
        guard let item = items.first(where: { $0.text == text }) else {
            throw Failure("\(name) has no item \"\(text)\".")
        }
        return (ShortIDs(items.map(\.id)).short(item.id), item.id)
    }

    private static func app(
        over dataSource: any SyncContextDataSource, server: URL, name: String, console: Console
    ) -> TodoApp {
        var settings = SyncSettings()
        settings.retry.maxAttempts = 1
        let context = SyncContext(
            client: SyncClient(
                url: server, transport: makeTransport(allowsInsecureHTTP: false), installationID: name),
            dataSource: dataSource, settings: settings)
        return TodoApp(context: context, console: console.indented(by: 5), storeName: "")
    }
}

extension Console {
    /// A console like this one on which nobody answers, and whose lines begin with spaces.
    fileprivate func indented(by count: Int) -> Console {
        let margin = String(repeating: " ", count: count)
        var console = Console { text in
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            write(lines.map { $0.isEmpty ? "" : margin + $0 }.joined(separator: "\n"))
        }
        console.showsColor = showsColor
        return console
    }
}
