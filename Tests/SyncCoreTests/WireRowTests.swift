// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Testing

struct WireRowTests {
    @Test func `system properties are separated from the fields, and the text of updatedAt is kept`() throws {
        let row: [String: ItemValue] = [
            "id": "a", "n": 1, "when": "2020-01-01T00:00:00Z", "createdAt": "2014-05-30T20:30:00+02:00",
            "updatedAt": "2014-05-30T18:30:00.1234567+00:00", "version": "AAA=", "deleted": true,
        ]
        let wire = try WireRow(row, dialect: .v2)
        #expect(wire.item.id == "a")
        #expect(wire.item.fields == ["n": 1, "when": "2020-01-01T00:00:00Z"])
        #expect(wire.item.system.version == "AAA=")
        #expect(wire.item.system.deleted)
        #expect(wire.item.system.createdAt == Timestamp("2014-05-30T18:30:00Z"))
        #expect(wire.item.system.updatedAt == Timestamp("2014-05-30T18:30:00.1234567Z"))
        #expect(wire.updatedAtText == "2014-05-30T18:30:00.1234567+00:00")
    }

    @Test func `v1 has its own names of system properties`() throws {
        let row: [String: ItemValue] = [
            "id": "a", "__version": "1", "__updatedAt": "2014-05-30T18:30:00Z", "__deleted": false,
            "__createdAt": .null, "version": "mine",
        ]
        let wire = try WireRow(row, dialect: .v1)
        #expect(wire.item.system.version == "1")
        #expect(wire.item.fields == ["version": "mine"])
        #expect(wire.updatedAtText == "2014-05-30T18:30:00Z")
    }

    @Test func `the version of the entity tag overrides the version in the row`() throws {
        let row: [String: ItemValue] = ["id": "a", "version": "old"]
        #expect(try WireRow(row, version: "new", dialect: .v2).item.system.version == "new")
        #expect(try WireRow(row, dialect: .v2).item.system.version == "old")
        #expect(try WireRow(["id": "a", "version": ""], dialect: .v2).item.system.version == nil)
    }

    @Test func `missing and null system properties are equal`() throws {
        let null: [String: ItemValue] = [
            "id": "a", "createdAt": nil, "updatedAt": nil, "version": nil, "deleted": nil,
        ]
        #expect(try WireRow(null, dialect: .v2).item == Item(id: "a"))
        #expect(try WireRow(["id": "a"], dialect: .v2).item == Item(id: "a"))
    }

    @Test(
        arguments: [
            ([:], SyncError.Code.expectedItemInResponse), (["id": nil], .expectedItemInResponse),
            (["id": 1], .expectedItemInResponse), (["ID": "a"], .expectedItemInResponse),
            (["id": ""], .invalidItemID), (["id": "a/b"], .invalidItemID),
            (["id": .text(String(repeating: "x", count: 256))], .invalidItemID),
            (["id": "a", "version": 1], .unreadableResponse),
            (["id": "a", "updatedAt": ""], .unreadableResponse),
            (["id": "a", "updatedAt": "yesterday"], .unreadableResponse),
            (["id": "a", "updatedAt": "10000-01-01T00:00:00Z"], .unreadableResponse),
            (["id": "a", "updatedAt": 5], .unreadableResponse),
            (["id": "a", "createdAt": "x"], .unreadableResponse),
            (["id": "a", "deleted": "true"], .unreadableResponse),
            (["id": "a", "deleted": 1], .unreadableResponse),
        ] as [([String: ItemValue], SyncError.Code)])
    func `an invalid row is refused, and the message names it`(row: [String: ItemValue], code: SyncError.Code)
    {
        let error = #expect(throws: SyncError.self) { try WireRow(row, dialect: .v2) }
        #expect(error?.code == code)
        if code == .unreadableResponse { #expect(error?.message.contains("'a'") == true) }
    }
}
