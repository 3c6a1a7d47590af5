// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncModels
import TableServer

/// The story of the tutorials: offline changes, two devices, conflicts.
struct DemoStory {
    private let server: TableServer
    private let store: StoreChoice
    private let console: Console
    private var a: DemoDevice
    private var b: DemoDevice

    init(server: TableServer, store: StoreChoice, directory: URL, console: Console) throws {
        self.server = server
        self.store = store
        self.console = console
        // No server listens on this port: device A starts without a network.
        let unreachable = URL(string: "http://127.0.0.1:9") ?? server.url
        a = try DemoDevice("A", store: store, directory: directory, server: unreachable, console: console)
        b = try DemoDevice("B", store: store, directory: directory, server: server.url, console: console)
    }

    /// Runs all scenes. Returns whether both devices and the server have the same rows at the end.
    mutating func play() async throws -> Bool {
        console.print(
            "Two devices, A and B, and a server at \(server.url). Each device has a \(store) store.")
        try await workOffline()
        try await restart()
        try await useClient()
        try await useServer()
        try await delete()
        let rowsAreEqual = try await compare()
        try await a.app.context.close()
        try await b.app.context.close()
        return rowsAreEqual
    }

    private func workOffline() async throws {
        scene("A works without a network.")
        try await a.add("Buy milk")
        try await a.add("Buy eggs")
        try await a.add("Hello world 3")
        try await a.sync()
        try await a.list()
    }

    private mutating func restart() async throws {
        scene("A is closed and started again, with a network. No change is lost; B receives all items.")
        try await a.restart(server: server.url)
        try await a.list()
        try await a.sync()
        try await b.sync()
        try await b.list()
    }

    private func useClient() async throws {
        scene("Both change the same item. B syncs first; A gets a conflict and uses the client's value.")
        try await a.edit("Buy eggs", to: "Buy eggs (6)")
        try await b.edit("Buy eggs", to: "Buy organic eggs")
        try await b.sync()
        try await a.sync(onConflict: .client)
        try await b.sync()
        try await b.list()
    }

    private func useServer() async throws {
        scene("Both change another item. A syncs first; B gets a conflict and uses the server's value.")
        try await a.edit("Hello world 3", to: "Hello world 13")
        try await b.edit("Hello world 3", to: "Hello world 23")
        try await a.sync()
        try await b.sync(onConflict: .server)
        try await b.list()
    }

    private func delete() async throws {
        scene("B deletes one item and completes another; A receives both changes.")
        try await b.delete("Buy milk")
        try await b.complete("Buy eggs (6)")
        try await b.sync()
        try await a.sync()
        try await a.list()
    }

    private func compare() async throws -> Bool {
        let rows = try server.rows(in: TodoItem.schema.name).filter { !$0.deleted }
        let sides = [
            ("A", try await a.app.table.raw.items()), ("B", try await b.app.table.raw.items()),
            ("Server", rows.map { Item(id: $0.id, fields: $0.fields) }),
        ].map { (name: $0.0, lines: $0.1.map(Self.line).sorted()) }
        console.print()
        console.print(console.styled("Final rows", .bold))
        for side in sides { console.print(side.name.padded(to: 8) + side.lines.joined(separator: "   ")) }
        let rowsAreEqual = sides.allSatisfy { $0.lines == sides[0].lines }
        console.print(rowsAreEqual ? "All rows are equal." : "The rows differ.")
        return rowsAreEqual
    }

    private static func line(_ item: Item) -> String { "[\(item.isComplete ? "x" : " ")] \(item.text)" }

    private func scene(_ title: String) {
        console.print()
        console.print(console.styled(title, .bold))
    }
}
