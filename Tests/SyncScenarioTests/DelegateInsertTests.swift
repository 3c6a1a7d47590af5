// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import Synchronization
import TableServer
import Testing

/// A delegate inserts a row on the server by its own request, and the user deletes the item meanwhile.
@Suite struct DelegateInsertTests {
    /// What happens to the insert beside the delegate's own request.
    enum Circumstance: CaseIterable {
        case alone, executionIsRefusedBefore, earlierPushWasRefused, resultHasNoVersion, pullFindsRow
        case responseIsLost, pushIsCancelled
    }

    @Test(arguments: Circumstance.allCases)
    func `an item deleted during the delegate's own insert is deleted on the server`(
        _ circumstance: Circumstance
    ) async throws {
        try await Scenario.run(on: .memory) { scenario in
            let (server, name) = (scenario.server, Todo.name)
            let isFirstPush = Mutex(circumstance == .earlierPushWasRefused)
            let refusals = circumstance == .executionIsRefusedBefore || isFirstPush.withLock(\.self)
            if refusals { server.inject(.refusal(400), when: { $0.method == "POST" }) }
            let delegate = ClosureDelegate(perform: { context, operation in
                let executes = isFirstPush.withLock { isFirst in
                    defer { isFirst = false }
                    return isFirst
                }
                guard operation.operation.kind == .insert, !executes else {
                    return try await operation.execute()
                }
                if circumstance == .executionIsRefusedBefore { _ = try? await operation.execute() }
                try await server.put("x", ["text": "one"], in: name)
                let row = try await context.client.table(name).read(id: "x")
                try await context.table(name).delete(id: "x")
                if circumstance == .pullFindsRow {
                    try await context.pull(Todo.query, queryID: "all", settings: .withoutPush)
                }
                switch circumstance {
                case .responseIsLost: throw URLError(.networkConnectionLost)
                case .pushIsCancelled:
                    withUnsafeCurrentTask { $0?.cancel() }
                    throw CancellationError()
                case .resultHasNoVersion: return operation.item
                default: return row
                }
            })
            let a = try scenario.device(delegate: delegate, settings: .singleAttempt)
            try await a.table.insert(["id": "x", "text": "one"])
            let endsEarly = [.earlierPushWasRefused, .responseIsLost, .pushIsCancelled].contains(circumstance)
            if endsEarly { _ = await Task { try await a.context.push() }.result }
            try await a.context.push()
            #expect(try await a.operations().isEmpty)
            #expect(try scenario.serverTexts().isEmpty)
            try await a.sync()
            #expect(try await a.item("x") == nil)
        }
    }

    @Test func `an item inserted again during the delegate's own insert replaces the row`() async throws {
        try await Scenario.run(on: .memory) { scenario in
            let (server, name) = (scenario.server, Todo.name)
            let delegate = ClosureDelegate(perform: { context, operation in
                guard operation.operation.kind == .insert else { return try await operation.execute() }
                try await server.put("x", ["text": "one", "priority": 1], in: name)
                let row = try await context.client.table(name).read(id: "x")
                try await context.table(name).delete(id: "x")
                try await context.table(name).insert(["id": "x", "text": "two"])
                return row
            })
            let a = try scenario.device(delegate: delegate, settings: .resolving(.serverWins))
            try await a.table.insert(["id": "x", "text": "one", "priority": 1])
            try await a.context.push()
            #expect(try await a.operations().isEmpty)
            #expect(try scenario.row("x")?.fields["text"] == "two")
            #expect(try await a.item("x")?.fields["text"] == "two")
        }
    }

    /// Also the next opening of the store knows that the server may have the row.
    @Test(arguments: StoreKind.allCases)
    func `an item deleted after the delegate's own insert had no response is deleted on the server`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let (server, name) = (scenario.server, Todo.name)
            let delegate = ClosureDelegate(perform: { _, operation in
                guard operation.operation.kind == .insert else { return try await operation.execute() }
                try await server.put("x", ["text": "one"], in: name)
                throw URLError(.networkConnectionLost)
            })
            let a = try scenario.device(delegate: delegate)
            try await a.table.insert(["id": "x", "text": "one"])
            _ = await a.expectPushErrors()
            #expect(try await a.operations().map(\.isPerformed) == [true])
            try await a.table.delete(id: "x")
            try await a.context.push()
            #expect(try scenario.serverTexts().isEmpty)
            try await a.sync()
            try await scenario.expectAgreement(a)
        }
    }

    /// A delegate that throws an error may have inserted the row; one that returns `nil` has not.
    @Test(arguments: [true, false])
    func `an insert that the delegate does not send is removed by the user's deletion`(_ throwsError: Bool)
        async throws
    {
        try await Scenario.run(on: .memory) { scenario in
            let delegate = ClosureDelegate(perform: { context, operation in
                guard operation.operation.kind == .insert else { return try await operation.execute() }
                try await context.table(Todo.name).delete(id: "x")
                if throwsError { throw SyncError(.invalidOperation, "Not now.") }
                return nil
            })
            let a = try scenario.device(delegate: delegate, settings: .singleAttempt)
            try await a.table.insert(["id": "x", "text": "one"])
            if throwsError {
                #expect(try await a.expectPushError().kind == .delete)
                try await a.context.push()
            } else {
                let result = try await a.context.push()
                #expect(result.errors.isEmpty)
            }
            #expect(try await a.operations().isEmpty)
            #expect(scenario.server.requests.allSatisfy { $0.method == "GET" })
        }
    }

    @Test func `a conflict decided during the delegate's own insert does not delete its row`() async throws {
        try await Scenario.run(on: .memory) { scenario in
            let (server, name) = (scenario.server, Todo.name)
            try await server.put("x", ["text": "old"], in: name)
            let b = try scenario.device()
            try await b.sync()
            try await b.table.delete(id: "x")
            try await b.context.push()
            let tombstone = try #require(try server.rows(in: name).first { $0.id == "x" && $0.deleted })
            let times = #""deleted":true,"updatedAt":"\#(tombstone.updatedAt)""#
            let page = #"[{"id":"x","text":"old","version":"\#(tombstone.version)",\#(times)}]"#
            let delegate = ClosureDelegate(perform: { context, operation in
                try await server.put("x", ["text": "new"], in: name)
                let row = try await context.client.table(name).read(id: "x")
                server.inject(.answer(status: 200, body: Data(page.utf8)), when: \.isPage)
                try await context.pull(Todo.query, queryID: "all", settings: .withoutPush)
                return row
            })
            let a = try scenario.device(delegate: delegate, settings: .resolving(.serverWins))
            try await a.table.insert(["id": "x", "text": "new"])
            _ = try? await a.context.push()
            try await a.sync()
            #expect(try scenario.serverTexts() == ["new"])
            #expect(try await a.item("x")?.fields["text"] == "new")
        }
    }
}
