// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
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
        // Nobody listens there: device A begins without a network.
        let nowhere = URL(string: "http://127.0.0.1:9") ?? server.url
        a = try DemoDevice("A", store: store, directory: directory, server: nowhere, console: console)
        b = try DemoDevice("B", store: store, directory: directory, server: server.url, console: console)
    }

    /// Plays all scenes, and tells whether both devices and the server have the same rows in the end.
    mutating func play() async throws -> Bool {
        console.print(
            "Two devices, A and B, and a server at \(server.url). Each device has a \(store) store.")
        try await workOffline()
        try await restart()
        try await useClient()
        try await useServer()
        try await delete()
        let isSame = try await compare()
        try await a.app.context.close()
        try await b.app.context.close()
        return isSame
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
        scene("A is closed and started again, and now there is a network. Nothing is lost; B gets it all.")
        try await a.restart(server: server.url)
        try await a.list()
        try await a.sync()
        try await b.sync()
        try await b.list()
    }

    private func useClient() async throws {
        scene("Both change the same item. B is first; A is told of the conflict and uses its own value.")
        try await a.edit("Buy eggs", to: "Buy eggs (6)")
        try await b.edit("Buy eggs", to: "Buy organic eggs")
        try await b.sync()
        try await a.sync(onConflict: .client)
        try await b.sync()
        try await b.list()
    }

    private func useServer() async throws {
        scene("Again, the other way round: B uses the server's value.")
        try await a.edit("Hello world 3", to: "Hello world 13")
        try await b.edit("Hello world 3", to: "Hello world 23")
        try await a.sync()
        try await b.sync(onConflict: .server)
        try await b.list()
    }

    private func delete() async throws {
        scene("B deletes one item and completes another; A sees both.")
        try await b.delete("Buy milk")
        try await b.complete("Buy eggs (6)")
        try await b.sync()
        try await a.sync()
        try await a.list()
    }

    private func compare() async throws -> Bool {
        let rows = try server.rows(in: TodoItem.definition.name).filter { !$0.deleted }
        let sides = [
            ("A", try await a.app.table.items()), ("B", try await b.app.table.items()),
            ("Server", rows.map { Item(id: $0.id, fields: $0.fields) }),
        ].map { (name: $0.0, lines: $0.1.map(Self.line).sorted()) }
        console.print()
        console.print(console.styled("Final rows", .bold))
        for side in sides { console.print(side.name.padded(to: 8) + side.lines.joined(separator: "   ")) }
        let isSame = sides.allSatisfy { $0.lines == sides[0].lines }
        console.print(isSame ? "The same everywhere." : "They differ!")
        return isSame
    }

    private static func line(_ item: Item) -> String { "[\(item.isComplete ? "x" : " ")] \(item.text)" }

    private func scene(_ title: String) {
        console.print()
        console.print(console.styled(title, .bold))
    }
}
