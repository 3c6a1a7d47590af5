// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Synchronization
import TableServer
import Testing

/// A conflict stays recorded when a later push fails before it has sent the change.
@Suite struct KeptConflictTests {
    /// What fails in a push before the change of an item is sent.
    enum Failure: CaseIterable {
        case refusedRead, failedRead, delegate, parent
    }

    private struct DelegateFailure: Error {}

    /// Pushes a change of an item that is missing on the server, once more with another failure, and runs the body.
    private func run(
        on kind: StoreKind, _ failure: Failure, _ body: (Scenario, Device) async throws -> Void
    ) async throws {
        let list = SyncTableDefinition("List", columns: [Todo.text])
        let item = SyncTableDefinition(
            "Item", columns: [Todo.text, SyncColumn("list", .text)], parents: ["List"])
        try await Scenario.run(
            on: kind,
            configure: {
                $0.tables = [.init("List"), .init("Item", softDelete: false)]
                $0.restartsVersions = true
            },
            { scenario in
                let server = scenario.server
                let fails = Mutex(false)
                let delegate = ClosureDelegate(perform: { _, operation in
                    if fails.withLock({ $0 }) { throw DelegateFailure() }
                    return try await operation.execute()
                })
                let a = try scenario.device(
                    delegate: delegate, settings: .singleAttempt, tables: [list, item])
                try await server.put("x", ["text": "old"], in: "Item")
                try await a.context.pull(TableQuery("Item"), queryID: "all")
                try await a.context.table("Item").update(id: "x", ["text": "ours"])
                try await server.remove("x", in: "Item", leavingTombstone: false)
                #expect(try await a.expectPushError().code == .itemNotOnServer)
                switch failure {
                case .refusedRead: server.inject(.refusal(403), when: { !$0.isWrite })
                case .failedRead: server.inject(.refusal(500), when: { !$0.isWrite })
                case .delegate: fails.withLock { $0 = true }
                case .parent:
                    try await a.context.table("List").insert(["id": "l", "text": "a"])
                    try await a.context.table("Item").update(id: "x", ["list": "l"])
                    server.inject(.refusal(400), when: { $0.path.contains("List") })
                }
                let errors = await a.expectPushErrors()
                #expect(errors.filter { $0.itemID == "x" }.map(\.code) == [.itemNotOnServer])
                #expect(try await a.context.status().conflictingOperations == 1)
                fails.withLock { $0 = false }
                try await body(scenario, a)
            })
    }

    @Test(arguments: StoreKind.allCases, Failure.allCases)
    func `a row inserted again with the same version is not overwritten`(
        _ kind: StoreKind, _ failure: Failure
    ) async throws {
        try await run(on: kind, failure) { scenario, a in
            scenario.server.clock.advance(by: .seconds(5))
            try await scenario.server.put("x", ["text": "new"], in: "Item")
            let error = try await a.expectPushError()
            #expect(error.itemID == "x" && error.serverItem?["text"] == "new")
            #expect(try scenario.server.row("x", in: "Item")?.fields["text"] == "new")
            try await a.context.cancelAndDiscardItem(for: error)
            #expect(try await a.context.table("Item").item(id: "x")?["text"] == "new")
        }
    }

    @Test(arguments: StoreKind.allCases, Failure.allCases)
    func `a discarded change of a missing row removes the item`(_ kind: StoreKind, _ failure: Failure)
        async throws
    {
        try await run(on: kind, failure) { _, a in
            let errors = try await a.context.operationErrors()
            let error = try #require(errors.first { $0.itemID == "x" })
            try await a.context.cancelAndDiscardItem(for: error)
            #expect(try await a.context.table("Item").item(id: "x") == nil)
            try await a.context.push()
        }
    }
}
