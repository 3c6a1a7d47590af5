// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import StoreMemory
import SyncCore
import SyncModels
import TableServer
import Testing

/// The samples of the article "Testing your app".
struct TestingYourAppSamples {
    static let tables = [SyncTableDefinition("TodoItem", columns: [SyncColumn("text", .text)])]

    struct Todo: SyncModel {
        var id = SyncID<Todo>(), text = ""
        static let schema = ModelSchema("TodoItem", Todo(), .field("text", \.text))
    }

    @Test func `a change reaches the server`() async throws {
        try await withTableServer(.init(tables: [.init("TodoItem")])) { server in
            let context = SyncContext(
                client: SyncClient(url: server.url), dataSource: try MemoryStore(tables: Self.tables))
            try await context.table("TodoItem").insert(["id": "1", "text": "Buy milk"])
            try await context.push()
            #expect(try server.row("1", in: "TodoItem")?.fields["text"] == "Buy milk")
        }
    }

    @Test func `a model reaches the server`() async throws {
        try await withTableServer(.init(tables: [.init("TodoItem")])) { server in
            let context = SyncContext(
                client: SyncClient(url: server.url), dataSource: try MemoryStore(tables: .models(Todo.self)))
            let milk = try await context.table(Todo.self).insert(Todo(text: "Buy milk"))
            try await context.push()
            #expect(try server.row(milk.id.text, in: "TodoItem")?.fields["text"] == "Buy milk")

            #expect(try server.rows(in: "TodoItem").map { SyncID<Todo>($0.id) } == [milk.id])
        }
    }

    @Test func `a lost answer is no conflict`() async throws {
        try await withTableServer(.init(tables: [.init("TodoItem")])) { server in
            let context = SyncContext(
                client: SyncClient(url: server.url), dataSource: try MemoryStore(tables: Self.tables),
                environment: .withoutWaiting)
            try await context.table("TodoItem").insert(["id": "1", "text": "Buy milk"])
            server.inject(.dropAnswer, when: { $0.method == "POST" })
            try await context.push()
            #expect(try server.rows(in: "TodoItem").count == 1)
            #expect(try await context.pendingOperationCount() == 0)
        }
    }

    @Test func `an outage`() async throws {
        try await withTableServer(.init(tables: [.init("TodoItem")])) { server in
            let context = SyncContext(
                client: SyncClient(url: server.url), dataSource: try MemoryStore(tables: Self.tables),
                environment: .withoutWaiting)
            try await context.table("TodoItem").insert(["id": "1", "text": "Buy milk"])
            server.onRequest { _ in .dropRequest }
            let error = await #expect(throws: SyncError.self) { try await context.push() }
            #expect(error?.isOffline == true)
            server.onRequest(nil)
            try await context.push()
            #expect(try server.rows(in: "TodoItem").count == 1)
        }
    }

    @Test func `a user`() async throws {
        var configuration = TableServer.Configuration(
            tables: [.init("TodoItem", permissions: .init(.authenticated), isPerUser: true)])
        let authentication = TableServer.Authentication(
            secret: Data("a secret of at least 32 bytes, for tests".utf8))
        configuration.authentication = authentication
        try await withTableServer(configuration) { server in
            let context = SyncContext(
                client: SyncClient(url: server.url), dataSource: try MemoryStore(tables: Self.tables))
            try await context.table("TodoItem").insert(["id": "1", "text": "Buy milk"])
            await #expect(throws: SyncError.self) { try await context.push() }
            context.client.authenticationToken = try await authentication.token(of: "ann")
            try await context.push()
            #expect(try server.rows(in: "TodoItem", of: "ann").count == 1)
        }
    }

    @Test func `two devices change one item`() async throws {
        try await withTableServer(.init(tables: [.init("TodoItem")])) { server in
            let context = SyncContext(
                client: SyncClient(url: server.url), dataSource: try MemoryStore(tables: Self.tables))
            try await context.table("TodoItem").insert(["id": "1", "text": "Buy milk"])
            try await context.push()

            try await server.update("1", ["text": "Buy oat milk"], in: "TodoItem")
            try await context.table("TodoItem").update(id: "1", ["text": "Buy soy milk"])
            await #expect(throws: SyncError.self) { try await context.push() }

            let conflict = try #require(try await context.operationErrors().first)
            #expect(conflict.isConflict && conflict.serverItem?["text"] == "Buy oat milk")
        }
    }

    @Test func `an edit while a request is sent`() async throws {
        try await withTableServer(.init(tables: [.init("TodoItem")])) { server in
            let context = SyncContext(
                client: SyncClient(url: server.url), dataSource: try MemoryStore(tables: Self.tables))
            let todos = context.table("TodoItem")
            try await todos.insert(["id": "1", "text": "Buy milk"])

            let gate = RequestGate()
            server.inject(.hold(gate))
            async let push = context.push()
            await gate.waitForArrivals()
            try await todos.update(id: "1", ["text": "Buy oat milk"])
            gate.open()
            _ = try await push
            #expect(try server.row("1", in: "TodoItem")?.fields["text"] == "Buy oat milk")
        }
    }

    @Test func `a full disk`() async throws {
        let url = try #require(URL(string: "https://example.com"))

        let store = FaultingStore(try MemoryStore(tables: Self.tables))
        store.faults.error = StoreError(.full, "The disk is full.")
        store.faults.failingCommit = 1
        let context = SyncContext(client: SyncClient(url: url), dataSource: store)
        await #expect(throws: SyncError.self) {
            try await context.table("TodoItem").insert(["text": "Buy milk"])
        }

        #expect(try await context.pendingOperationCount() == 0)
    }

    @Test func `the server's clock`() async throws {
        let start = try #require(Timestamp("2026-01-31T08:00:00.000Z"))

        let clock = ServerClock.standing(at: start)
        let configuration = TableServer.Configuration(tables: [.init("TodoItem")], clock: clock)
        try await withTableServer(configuration) { server in
            try await server.put("1", ["text": "Buy milk"], in: "TodoItem")
            clock.advance(by: .seconds(3600))
            try await server.put("2", ["text": "Buy eggs"], in: "TodoItem")
            let times = try server.rows(in: "TodoItem").map(\.updatedAt)
            #expect(times == [start, start.advanced(by: .seconds(3600))])
        }
    }
}

extension SyncEnvironment {
    static var withoutWaiting: SyncEnvironment {
        var environment = SyncEnvironment.live
        environment.sleep = { _ in
            try Task.checkCancellation()
            await Task.yield()
        }
        return environment
    }
}
