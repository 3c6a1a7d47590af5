// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncModels

/// A device of the demonstration: a separate store, and a user who types commands.
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
        app = Self.makeApp(dataSource: dataSource, server: server, name: name, console: console)
    }

    /// Closes the app and starts it again with this server.
    mutating func restart(server: URL) async throws {
        if store == .memory {
            console.print("\(name)  (the memory store stays open, because closing it loses all items)")
        } else {
            try await app.context.close()
            dataSource = try store.open(in: directory, name: name)
        }
        app = Self.makeApp(dataSource: dataSource, server: server, name: name, console: console)
    }

    /// Prints a command as the user types it, runs it and prints its output.
    func type(_ command: String, _ run: (TodoApp) async throws -> Void) async throws {
        console.print("\(console.styled("\(name)> todo", .blue)) \(command)")
        do {
            try await run(app)
        } catch {
            app.console.print("Error: \(await app.userFacingError(for: error).localizedDescription)")
        }
    }

    /// Returns the short and the full id of the item with this text.
    func id(of text: String) async throws -> (short: String, full: String) {
        let items = try await app.table.fetch()
        guard let item = items.first(where: { $0.text == text }) else {
            throw Failure("Device \(name) has no item \"\(text)\".")
        }
        return (ShortIDs(items.map(\.id.text)).short(item.id.text), item.id.text)
    }

    private static func makeApp(
        dataSource: any SyncContextDataSource, server: URL, name: String, console: Console
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
    /// Returns a console that indents its lines and has no input.
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
