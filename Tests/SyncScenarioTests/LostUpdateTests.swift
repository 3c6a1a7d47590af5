// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import SyncCore
import Synchronization
import TableServer
import TestSupport
import Testing

/// Stale copies, pages and decisions do not overwrite newer changes.
@Suite struct LostUpdateTests {
    /// Runs the body with a copy of an item, and a device that has pulled a later change by another client.
    private func withStaleCopy(
        on kind: StoreKind = .memory, delegate: ClosureDelegate? = nil,
        _ body: (Scenario, Device, Item) async throws -> Void
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(delegate: delegate, settings: .singleAttempt)
            try await scenario.server.put("x", ["text": "one", "priority": 1], in: Todo.name)
            try await a.sync()
            var copy = try #require(try await a.item("x"))
            try await scenario.server.update("x", ["text": "theirs"], in: Todo.name)
            try await a.sync()
            copy["priority"] = 5
            try await body(scenario, a, copy)
        }
    }

    @Test func `a stale copy saved behind an operation in flight is a conflict`() async throws {
        try await withStaleCopy { scenario, a, copy in
            try await a.table.update(id: "x", ["complete": true])
            _ = try await scenario.push(a) { _ in try await a.table.replace(copy) }
            _ = try? await a.context.push()
            #expect(try scenario.row("x")?.fields["text"] == "theirs")
        }
    }

    @Test func `a stale copy saved after an attempt with unknown outcome is a conflict`() async throws {
        try await withStaleCopy { scenario, a, copy in
            try await a.table.update(id: "x", ["complete": true])
            scenario.server.inject(.dropAnswer, when: \.isWrite)
            _ = try? await a.context.push()
            try await a.table.replace(copy)
            _ = try? await a.context.push()
            _ = try? await a.context.push()
            #expect(try scenario.row("x")?.fields["text"] == "theirs")
        }
    }

    @Test func `an edit behind a repeated attempt does not hide that a stale copy was saved before`()
        async throws
    {
        try await withStaleCopy { scenario, a, copy in
            try await a.table.update(id: "x", ["complete": true])
            scenario.server.inject(.dropAnswer, when: \.isWrite)
            _ = try? await a.context.push()
            try await a.table.replace(copy)
            _ = try await scenario.push(a) { _ in try await a.table.update(id: "x", ["priority": 7]) }
            _ = try? await a.context.push()
            #expect(try scenario.row("x")?.fields["text"] == "theirs")
        }
    }

    @Test func `a change in the store after an unknown outcome does not hide that a stale copy was saved`()
        async throws
    {
        try await withStaleCopy { scenario, a, copy in
            try await a.table.update(id: "x", ["complete": true])
            scenario.server.inject(.dropRequest, when: \.isWrite)
            _ = try? await a.context.push()
            try await a.table.replace(copy)
            try a.changeDirectly("x") { $0["priority"] = 7 }
            try await a.context.enqueueExternalChanges(in: Todo.name, changed: ["x"])
            _ = try? await a.context.push()
            _ = try? await a.context.push()
            #expect(try scenario.row("x")?.fields["text"] == "theirs")
        }
    }

    @Test(arguments: [false, true])
    func `a change in the store behind an operation in flight does not hide that a stale copy was saved`(
        _ fails: Bool
    ) async throws {
        try await withStaleCopy { scenario, a, copy in
            try await a.table.update(id: "x", ["complete": true])
            _ = try await scenario.push(a, then: fails ? .refusal(400) : .none) { _ in
                try await a.table.replace(copy)
                try a.changeDirectly("x") { $0["priority"] = 7 }
                try await a.context.enqueueExternalChanges(in: Todo.name, changed: ["x"])
            }
            _ = try? await a.context.push()
            #expect(try scenario.row("x")?.fields["text"] == "theirs")
        }
    }

    /// The row that proves a lost update can contain another client's change of other columns.
    @Test func `a stale copy saved after a lost answer was proven is a conflict`()
        async throws
    {
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            try await scenario.server.put("x", ["text": "one", "priority": 1], in: Todo.name)
            try await a.sync()
            var copy = try #require(try await a.item("x"))
            try await a.table.update(id: "x", ["priority": 2])
            scenario.server.inject(.dropAnswer, when: \.isWrite)
            _ = try? await a.context.push()
            try await scenario.server.update("x", ["text": "theirs"], in: Todo.name)
            try await a.context.push()
            #expect(try await a.item("x")?["text"] == "theirs")
            copy["complete"] = true
            try await a.table.replace(copy)
            _ = try? await a.context.push()
            #expect(try scenario.row("x")?.fields["text"] == "theirs")
        }
    }

    @Test(arguments: [false, true])
    func `an item that a delegate returns does not restore an item deleted during the callback`(
        _ executes: Bool
    )
        async throws
    {
        let delegate = ClosureDelegate(perform: { context, operation in
            if executes { _ = try? await operation.execute() }
            try await context.table(Todo.name).delete(id: "x")
            return operation.item
        })
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device(delegate: delegate, settings: .singleAttempt)
            try await a.table.insert(["id": "x", "text": "one"])
            if executes { scenario.server.inject(.refusal(400), when: \.isWrite) }
            _ = try? await a.context.push()
            if try await a.operations().isEmpty { #expect(try await a.item("x") == nil) }
        }
    }

    @Test func `an item deleted during the delegate's own insert is deleted on the server`() async throws {
        try await Scenario.run(on: .memory) { scenario in
            let (server, name) = (scenario.server, Todo.name)
            let delegate = ClosureDelegate(perform: { context, operation in
                guard operation.operation.kind == .insert else { return try await operation.execute() }
                try await server.put("x", ["text": "one"], in: name)
                let row = try await context.client.table(name).read(id: "x")
                try await context.table(name).delete(id: "x")
                return row
            })
            let a = try scenario.device(delegate: delegate, settings: .singleAttempt)
            try await a.table.insert(["id": "x", "text": "one"])
            try await a.context.push()
            #expect(try await a.operations().isEmpty)
            #expect(try scenario.serverTexts().isEmpty)
            try await a.sync()
            #expect(try await a.item("x") == nil)
        }
    }

    @Test func `an item that a delegate returns is not stored after a purge during the callback`()
        async throws
    {
        let delegate = ClosureDelegate(perform: { context, operation in
            try await context.purge(Todo.query, pending: .discard)
            return operation.item
        })
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device(delegate: delegate, settings: .singleAttempt)
            try await a.table.insert(["id": "x", "text": "one"])
            _ = try? await a.context.push()
            #expect(try await a.item("x") == nil)
        }
    }

    /// The user accepts a server's row with an unreadable value, and edits another column.
    @Test func `an update that replaces the whole row keeps an unreadable value`() async throws {
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.wholeRowDevice()
            try await scenario.server.put("x", ["text": "one", "priority": 1], in: Todo.name)
            try await a.context.pull(Todo.query)
            try await scenario.server.update("x", ["priority": "high"], in: Todo.name)
            try await a.table.update(id: "x", ["text": "two"])
            let error = try await a.expectPushError()
            try await a.context.cancelAndUpdateItem(for: error, with: try #require(error.serverItem))
            try await a.table.update(id: "x", ["text": "three"])
            _ = try? await a.context.push()
            #expect(try scenario.row("x")?.fields["priority"] == "high")
        }
    }

    /// A transport with middleware that throws an error after a response, once.
    private final class FailingTransport: HTTPTransport {
        private let base: URLSessionTransport = .patient
        private let failsNext = Mutex(false)

        func failNext() { failsNext.withLock { $0 = true } }

        func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
            let response = try await base.send(request)
            let fails = failsNext.withLock { failsNext in
                defer { failsNext = false }
                return failsNext
            }
            if fails { throw SyncError(.unreadableResponse, "The signature of the response is wrong.") }
            return response
        }
    }

    @Test func `an error of middleware after the response leaves the outcome unknown`() async throws {
        try await Scenario.run(on: .memory) { scenario in
            let transport = FailingTransport()
            let a = try scenario.device(settings: .singleAttempt, transport: transport)
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await a.sync()
            try await a.table.update(id: "x", ["text": "two"])
            transport.failNext()
            _ = try? await a.context.push()
            try await a.table.update(id: "x", ["text": "three"])
            try await a.context.push()
            try await scenario.expectAgreement(a)
        }
    }

    @Test func `a stale page does not revert a newer row that a resolver stored`()
        async throws
    {
        try await Scenario.run(on: .memory) { scenario in
            var settings = SyncSettings.singleAttempt
            settings.resolver = .serverWins
            let transport = HeldResponseTransport()
            let a = try scenario.device(settings: settings, transport: transport)
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await a.sync()
            try await scenario.server.update("x", ["text": "two"], in: Todo.name)
            transport.holdNext()
            let pull = Task { try await a.context.pull(Todo.query, settings: .withoutPush) }
            try await transport.waitForResponse()
            try await scenario.server.update("x", ["text": "three"], in: Todo.name)
            try await a.table.update(id: "x", ["text": "mine"])
            _ = try await a.context.push()
            #expect(try await a.item("x")?["text"] == "three")
            transport.release()
            _ = try await pull.value
            #expect(try await a.item("x")?["text"] == "three")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an item that the delegate edits stays a change of the older copy`(_ kind: StoreKind) async throws {
        let delegate = ClosureDelegate(perform: { _, operation in
            operation.item?["priority"] = 7
            return try await operation.execute()
        })
        try await withStaleCopy(on: kind, delegate: delegate) { scenario, a, copy in
            try await a.table.replace(copy)
            let error = try await a.expectPushError()
            #expect(error.isConflict)
            #expect(try scenario.row("x")?.fields["text"] == "theirs")
        }
    }

    @Test(arguments: [400, 500])
    func `a delegate that corrects a refused item does not overwrite what the older copy has not seen`(
        _ status: Int
    ) async throws {
        let delegate = ClosureDelegate(perform: { _, operation in
            do { return try await operation.execute() } catch let error as TableOperationError {
                guard !error.isConflict else { throw error }
                operation.item?["priority"] = 6
                return try await operation.execute()
            }
        })
        try await withStaleCopy(delegate: delegate) { scenario, a, copy in
            try await a.table.replace(copy)
            scenario.server.inject(.refusal(status), when: \.isWrite)
            let error = try await a.expectPushError()
            #expect(error.isConflict)
            #expect(try scenario.row("x")?.fields["text"] == "theirs")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a delegate can overwrite the row that a change of an older copy has met`(_ kind: StoreKind)
        async throws
    {
        try await withStaleCopy(on: kind, delegate: .retryingWithServerVersion) { scenario, a, copy in
            try await a.table.replace(copy)
            try await a.context.push()
            #expect(try scenario.row("x")?.fields["text"] == "one")
            try await scenario.expectAgreement(a)
        }
    }
}
