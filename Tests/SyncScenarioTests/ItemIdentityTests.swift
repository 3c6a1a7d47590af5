// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

/// The id and the system properties of an item cannot be changed, and an attempt to change them is refused.
@Suite struct ItemIdentityTests {
    @Test(arguments: StoreKind.allCases)
    func `an update accepts the item's own id among the fields`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            try await a.table.insert(["id": "x", "text": "one"])
            let updated = try await a.table.update(id: "x", ["id": "x", "text": "two"])
            #expect(updated.fields == ["text": "two"])
            try await a.context.batch { local in
                let updated = try local.update(id: "x", ["id": "x", "priority": 1], in: Todo.name)
                #expect(updated.fields == ["text": "two", "priority": 1])
            }
            try await a.sync()
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an update with another id is refused and changes nothing`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            try await a.table.insert(["id": "é", "text": "one"])
            for id in ["y", "e\u{301}", 5, nil] as [ItemValue] {
                let error = await expectError(.invalidItemID) {
                    try await a.table.update(id: "é", ["id": id, "text": "two"])
                }
                #expect(error?.message.contains("'é'") == true)
                await expectError(.invalidItemID) {
                    _ = try await a.context.batch { local in
                        try local.update(id: "é", ["id": id, "text": "two"], in: Todo.name)
                    }
                }
            }
            #expect(try await a.item("é")?.fields == ["text": "one"])
            #expect(try await a.operations().map(\.kind) == [.insert])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `writing an item whose id or system property was assigned is refused`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            try await a.table.insert(["id": "x", "text": "one"])
            try await a.sync()
            let stored = try #require(try await a.item("x"))
            for (name, value) in [
                ("version", "v9"), ("version", nil), ("deleted", true), ("updatedAt", .date(.unixEpoch)),
                ("createdAt", nil),
            ] as [(String, ItemValue?)] {
                var item = stored
                item[name] = value
                let (name, changed) = (name, item)
                let error = await expectError(.invalidItem) { try await a.table.replace(changed) }
                #expect(error?.message.contains("'\(name)'") == true)
                await expectError(.invalidItem) {
                    _ = try await a.context.batch { try $0.replace(changed, in: Todo.name) }
                }
            }
            var renamed = stored
            renamed["id"] = "y"
            let item = renamed
            await expectError(.invalidItemID) { try await a.table.replace(item) }
            #expect(try await a.item("x") == stored)
        }
    }

    @Test func `assigning an item its own id changes nothing`() {
        var item = Item(id: "x", fields: ["text": "one"])
        item["id"] = "x"
        #expect(item == Item(id: "x", fields: ["text": "one"]))
    }
}
