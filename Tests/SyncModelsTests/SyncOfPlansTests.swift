// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreMemory
import SyncModels
import TableServer
import TestSupport
import Testing

/// Syncs of several plans: what fails, what is pulled all the same, and which error is thrown.
@Suite struct SyncOfPlansTests {
    private static let refusal = ServerFault.answer(
        status: 400, headers: ["Content-Type": "application/json"], body: Data(#"{"error":"no"}"#.utf8))

    /// Runs the body with a server that has a to-do, and not the table of lists, which is pulled first.
    private func withoutLists(_ body: (SyncContext, TableServer) async throws -> Void) async throws {
        try await withTableServer(.init(tables: [.init("TodoItem")])) { server in
            try await server.put("theirs", ["text": "theirs"], in: "TodoItem")
            let context = SyncContext(
                client: SyncClient(url: server.url, transport: .patient),
                dataSource: try MemoryStore(tables: .models(TodoList.self, Todo.self)))
            try await body(context, server)
            try await context.close()
        }
    }

    @discardableResult
    private func sync(_ context: SyncContext, _ isAutomatic: Bool) async throws -> SyncResult {
        try await isAutomatic
            ? AutoSync(context, pulls: [TodoList.all.pull(), Todo.all.pull()]).syncNow()
            : context.sync(TodoList.all.pull(), Todo.all.pull())
    }

    // MARK: Errors of one plan

    @Test(arguments: [false, true])
    func `a table that the server does not have keeps no other table from being pulled`(_ isAutomatic: Bool)
        async throws
    {
        try await withoutLists { context, _ in
            let error = await #expect(throws: SyncError.self) { try await sync(context, isAutomatic) }
            #expect(error?.code == .pullAborted)
            #expect((error?.cause as? SyncError)?.code == .tableNotOnServer)
            let ids = try await context.table(Todo.self).fetch().map(\.id)
            #expect(ids == ["theirs"])
        }
    }

    private static var strictLists: PullPlan {
        var plan = TodoList.all.pull()
        plan.settings.onUnreadableRow = .fail
        return plan
    }

    @Test func `a row that cannot be read keeps no other table from being pulled`() async throws {
        try await withServer(.models(TodoList.self, Todo.self)) { context, server in
            try await server.put("bad", ["name": 5], in: "TodoList")
            try await server.put("theirs", ["text": "theirs"], in: "TodoItem")
            let error = await #expect(throws: SyncError.self) {
                try await context.sync(Self.strictLists, Todo.all.pull())
            }
            #expect(error?.code == .pullAborted)
            let ids = try await context.table(Todo.self).fetch().map(\.id)
            #expect(ids == ["theirs"])
        }
    }

    // MARK: Errors of the push

    @Test(arguments: [false, true])
    func `a sync throws the failures of its push although a table cannot be pulled`(_ isAutomatic: Bool)
        async throws
    {
        try await withoutLists { context, server in
            try await context.table(Todo.self).insert(Todo(id: "mine", text: "mine"))
            server.inject(Self.refusal, when: { $0.method == "POST" })
            let error = await #expect(throws: SyncError.self) { try await sync(context, isAutomatic) }
            #expect(error?.code == .pushCompletedWithErrors)
            #expect(error?.pushResult?.errors.map(\.itemID) == ["mine"])
            #expect(try await context.table(Todo.self).fetch().map(\.id) == ["mine", "theirs"])
        }
    }

    @Test(arguments: [false, true], [401, 503])
    func `an error of the service ends a sync at once, and has the failures of its push`(
        _ isAutomatic: Bool, _ status: Int
    ) async throws {
        var settings = SyncSettings()
        settings.retry.maxAttempts = 1
        try await withServer(.models(TodoList.self, Todo.self), settings: settings) { context, server in
            try await context.table(Todo.self).insert(Todo(id: "mine", text: "mine"))
            server.onRequest { request in
                request.method == "POST" ? Self.refusal : ServerFault.answer(status: status)
            }
            let error = await #expect(throws: SyncError.self) { try await sync(context, isAutomatic) }
            #expect(error?.code == .pullAborted)
            #expect(error?.pushResult?.errors.map(\.itemID) == ["mine"])
            let cause = (error?.cause as? PushFailure)?.underlying as? SyncError
            let code: SyncError.Code = status == 401 ? .authenticationRequired : .serviceUnavailable
            #expect(cause?.code == code)
            #expect(server.requests.count { $0.method == "GET" } == 1)
        }
    }

    @Test func `the message of a failed push counts operations that wait for others apart`() async throws {
        try await withServer(.models(TodoList.self, Todo.self)) { context, server in
            let list = TodoList(name: "Garden")
            try await context.table(Todo.self).insert(Todo(text: "Plant a tree", list: list.id))
            try await context.table(TodoList.self).insert(list)
            server.inject(Self.refusal, when: { $0.method == "POST" })
            let error = await #expect(throws: SyncError.self) { try await context.push() }
            let errors = try #require(error?.pushResult?.errors)
            #expect(errors.map { $0.code == .operationHeld } == [true, false])
            let reason = try #require(errors.last?.message)
            #expect(
                error?.message
                    == "Not all operations were completed: 1 failed, 1 waits for another. \(reason)")
        }
    }
}
