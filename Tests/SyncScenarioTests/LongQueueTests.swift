// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

/// An operation at which pushes end is sent last, wherever it is in the queue.
@Suite struct LongQueueTests {
    /// A table with a child table.
    private static let listAndItem = [
        SyncTableDefinition("List", columns: [SyncColumn("text", .text)]),
        SyncTableDefinition("Item", columns: [SyncColumn("list", .text)], parents: ["List"]),
    ]

    /// Whether a proxy refuses the request.
    private static func isPoison(_ request: RecordedRequest) -> Bool {
        String(decoding: request.body, as: UTF8.self).contains("poison")
    }

    /// With 409 the operations at the front are in conflict, with 400 they are parked.
    @Test(arguments: StoreKind.allCases, [409, 400])
    func `an operation that a proxy refuses does not block the queue behind many that wait`(
        _ kind: StoreKind, _ status: Int
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            var settings = SyncSettings.singleAttempt
            settings.parkAfterRefusals = 1
            let a = try scenario.device(settings: settings)
            for index in 0..<65 {
                try await a.table.insert(["id": .text("item-\(index)"), "text": "waiting"])
            }
            for text in ["poison", "healthy"] {
                try await a.table.insert(["id": .text(text), "text": .text(text)])
            }
            scenario.server.onRequest { request in
                if Self.isPoison(request) { return .webPage(413) }
                return String(decoding: request.body, as: UTF8.self).contains("waiting")
                    ? .refusal(status) : .none
            }
            await expectError(.pushAbortedService) { try await a.context.push() }
            #expect(try scenario.row("healthy") == nil)
            await expectError(.pushAbortedService) { try await a.context.push() }
            #expect(try scenario.row("healthy") != nil)
            #expect(try await a.operations().count == 66)
            scenario.server.onRequest(nil)
            _ = try? await a.context.push()
            #expect(try scenario.row("poison") != nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a parent that a proxy refuses keeps only its own children from being sent`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) {
            $0.tables += [.init("List"), .init("Item")]
        } _: { scenario in
            let a = try scenario.device(settings: .singleAttempt, tables: Self.listAndItem)
            let items = a.context.table("Item")
            for index in 0..<64 { try await items.insert(["id": .text("item-\(index)"), "list": "other"]) }
            try await a.context.table("List").insert(["id": "list", "text": "poison"])
            try await items.insert(["id": "child", "list": "list"])
            scenario.server.onRequest { Self.isPoison($0) ? .webPage(413) : .none }
            await expectError(.pushAbortedService) { try await a.context.push() }
            #expect(try scenario.server.rows(in: "Item").isEmpty)
            await expectError(.pushAbortedService) { try await a.context.push() }
            #expect(try scenario.server.rows(in: "Item").count == 64)
            #expect(try scenario.server.row("child", in: "Item") == nil)
            scenario.server.onRequest(nil)
            try await a.context.push()
            #expect(try scenario.server.row("child", in: "Item") != nil)
            #expect(try await a.operations().isEmpty)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an operation that a proxy refuses does not block one of a later table at which a push has ended`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) {
            $0.tables += [.init("List"), .init("Item")]
        } _: { scenario in
            let a = try scenario.device(settings: .singleAttempt, tables: Self.listAndItem)
            try await a.context.table("List").insert(["id": "list", "text": "poison"])
            try await a.context.table("Item").insert(["id": "item", "list": "other"])
            scenario.server.onRequest { _ in .webPage(413) }
            for _ in 0..<2 { await expectError(.pushAbortedService) { try await a.context.push() } }
            scenario.server.onRequest { Self.isPoison($0) ? .webPage(413) : .none }
            for _ in 0..<2 { await expectError(.pushAbortedService) { try await a.context.push() } }
            #expect(try scenario.server.row("item", in: "Item") != nil)
        }
    }

    /// In a shared store, another process may be sending the insert, so that the delete is queued behind it.
    @Test func `an insert at which a push has ended and that becomes a delete is completed by the next push`()
        async throws
    {
        try await Scenario.run(on: .sqlite) {
            $0.tables += [.init("List"), .init("Item")]
        } _: { scenario in
            let store = try scenario.sharedStore(tables: Self.listAndItem)
            let a = scenario.device(on: store, settings: .resolving(.clientWins))
            let lists = a.context.table("List")
            try await lists.insert(["id": "x", "text": "ours"])
            scenario.server.inject(.webPage(413), when: \.isWrite)
            await expectError(.pushAbortedService) { try await a.context.push() }
            try await scenario.server.put("x", ["text": "theirs"], in: "List")
            try await lists.delete(id: "x")
            try await a.context.push()
            #expect(try await a.operations().isEmpty)
            #expect(try scenario.server.row("x", in: "List")?.deleted == true)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an operation that a proxy refuses does not block its table behind many operations of another`(
        _ kind: StoreKind
    ) async throws {
        let other = SyncTableDefinition("Other", columns: [SyncColumn("text", .text)])
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: .singleAttempt, tables: [Todo.definition, other])
            for index in 0..<64 { try await a.context.table("Other").insert(["id": .text("\(index)")]) }
            for text in ["poison", "healthy"] {
                try await a.table.insert(["id": .text(text), "text": .text(text)])
            }
            scenario.server.onRequest { Self.isPoison($0) ? .webPage(413) : .none }
            for _ in 0..<2 {
                #expect(try scenario.row("healthy") == nil)
                await expectError(.pushAbortedService) { try await a.context.push(tables: [Todo.name]) }
            }
            #expect(try scenario.row("healthy") != nil)
            #expect(try scenario.server.rows(in: "Other").isEmpty)
            scenario.server.onRequest(nil)
            #expect(try await a.context.push().completed == 65)
        }
    }
}
