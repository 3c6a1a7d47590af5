// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncModels
import TableServer
import Testing

/// Stored values that the properties of a model cannot express, in updates and conflicts.
@Suite struct InexpressibleValueTests {
    struct Place: SyncModel {
        var id = SyncID<Place>()
        var name = "", address = Address(), labels: Set<String> = []
        static let schema = ModelSchema(
            "Place", Place(), .field("name", \.name), .json("address", \.address),
            .json("labels", \.labels))
    }

    struct Address: Codable, Hashable, Sendable {
        struct Point: Codable, Hashable, Sendable { var x = 0 }
        var city = "", street: String?, point = Point(), numbers: [String: Int] = [:]
    }

    /// Changes the priority from low to the blank value on the device, and to an unknown one on the server.
    private static func priority(_ settings: SyncSettings) async throws -> ItemValue? {
        var priority: ItemValue?
        try await withServer(.models(TodoList.self, Todo.self), settings: settings) { context, server in
            let table = context.table(Todo.self)
            try await server.put("x", ["text": "one", "priority": "low"], in: "TodoItem")
            try await table.pull()
            try await table.update("x") { $0.priority = .normal }
            try await server.update("x", ["text": "two", "priority": "urgent"], in: "TodoItem")
            try await context.push()
            let row = try server.row("x", in: "TodoItem")
            #expect(row?.fields["text"] == "two")
            priority = row?.fields["priority"]
        }
        return priority
    }

    @Test func `a change to the blank value is merged if the server's value is unknown`() async throws {
        var settings = SyncSettings()
        settings.resolve(Todo.self) { conflict in
            guard var merged = conflict.theirs, let mine = conflict.mine else { return .keepTheirs }
            merged.priority = mine.priority
            return .merge(merged)
        }
        #expect(try await Self.priority(settings) == "normal")
    }

    @Test func `a clash of the blank value and an unknown one follows the rule`() async throws {
        for (rule, priority) in [(ConflictResolver.clientWins, "normal"), (.serverWins, "urgent")] {
            var settings = SyncSettings()
            settings.resolveByField(Todo.self, onClash: rule)
            #expect(try await Self.priority(settings) == .text(priority))
        }
    }

    private static let stored: ItemValue = [
        "city": "Oslo", "street": "Karl Johan", "point": ["x": 1, "y": 2], "zip": "0154",
        "numbers": ["a": 1, "b": 2],
    ]

    @Test func `a change of a JSON property keeps the stored keys that its type does not have`() async throws
    {
        try await withServer(.models(Place.self)) { context, server in
            let table = context.table(Place.self)
            try await server.put("x", ["address": Self.stored], in: "Place")
            try await table.pull()
            let original = try #require(try await table.get("x"))
            try await table.update("x") { place in
                place.address.point.x = 7
                place.address.street = nil
                place.address.numbers = ["b": 3]
            }
            let changed: ItemValue = [
                "city": "Oslo", "point": ["x": 7, "y": 2], "zip": "0154", "numbers": ["b": 3],
            ]
            #expect(try await table.raw.item(id: "x")?["address"] == changed)
            var edited = original
            edited.address.city = "Bergen"
            try await table.save(edited, from: original)
            guard case .object(var fields) = Self.stored else { return }
            fields["city"] = "Bergen"
            #expect(try await table.raw.item(id: "x")?["address"] == .object(fields))
        }
    }

    /// Expects that a conflict of the device's city with these changes of the server ends with both.
    private func expectMergedAddress(
        with theirs: [String: ItemValue],
        resolving rule: @escaping @Sendable (ModelConflict<Place>) -> ModelDecision<Place>
    ) async throws {
        var settings = SyncSettings()
        settings.resolve(Place.self, rule)
        try await withServer(.models(Place.self), settings: settings) { context, server in
            let table = context.table(Place.self)
            let base: [String: ItemValue] = ["city": "Oslo", "point": ["x": 1], "numbers": [:]]
            try await server.put("x", ["address": .object(base)], in: "Place")
            try await table.pull()
            try await table.update("x") { $0.address.city = "Bergen" }
            let changed = base.merging(theirs) { $1 }
            try await server.update("x", ["address": .object(changed)], in: "Place")
            try await context.push()
            let merged = changed.merging(["city": "Bergen"]) { $1 }
            #expect(try server.row("x", in: "Place")?.fields["address"] == .object(merged))
        }
    }

    @Test func `a JSON property is not changed whose stored value its type cannot decode`() async throws {
        try await withServer(.models(Place.self)) { context, server in
            let table = context.table(Place.self)
            // The type has gained the keys 'point' and 'numbers' since.
            try await server.put("x", ["name": "home", "address": ["city": "Oslo"]], in: "Place")
            try await table.pull()
            let original = try #require(try await table.get("x"))
            #expect(original.address == Address())
            let change: @Sendable (inout Place) -> Void = { place in
                place.name = "work"
                place.address.street = "Karl Johan"
            }
            var edited = original
            change(&edited)
            for write in [
                { _ = try await table.update("x", change) },
                { [edited] in _ = try await table.save(edited, from: original) },
            ] as [@Sendable () async throws -> Void] {
                let error = await #expect(throws: SyncError.self) { try await write() }
                #expect(error?.code == .invalidItem)
                #expect(
                    error?.message.hasPrefix(
                        "Place.address of 'x' cannot be changed: the column 'address' holds a value") == true)
            }
            #expect(try await context.pendingOperations().isEmpty)
            try await table.update("x") { $0.name = "work" }
            try await table.raw.update(id: "x", ["address": ["city": "Bergen"]])
            try await context.push()
            let fields = try server.row("x", in: "Place")?.fields
            #expect(fields == ["name": "work", "address": ["city": "Bergen"]])
        }
    }

    @Test func `a merged JSON property that equals the device's keeps the keys that the server has added`()
        async throws
    {
        try await expectMergedAddress(with: ["point": ["x": 1, "y": 3], "zip": "1"]) { conflict in
            conflict.merged(preferring: .mine).map { .merge($0) } ?? .keepTheirs
        }
    }

    @Test func `a merged JSON property keeps the keys that the server has added`() async throws {
        try await expectMergedAddress(with: ["point": ["x": 2, "y": 3], "zip": "1"]) { conflict in
            guard var merged = conflict.theirs, let mine = conflict.mine else { return .keepTheirs }
            merged.address.city = mine.address.city
            return .merge(merged)
        }
    }

    @Test func `a merged JSON property keeps what the device has stored if the server has deleted the row`()
        async throws
    {
        var settings = SyncSettings()
        settings.resolve(Place.self) { conflict in conflict.mine.map { .merge($0) } ?? .keepTheirs }
        try await withServer(.models(Place.self), settings: settings) { context, server in
            let table = context.table(Place.self)
            try await server.put("x", ["address": Self.stored], in: "Place")
            try await table.pull()
            try await table.update("x") { $0.name = "mine" }
            try await server.remove("x", in: "Place")
            try await context.push()
            let row = try #require(try server.row("x", in: "Place"))
            #expect(!row.deleted && row.fields["name"] == "mine")
            #expect(row.fields["address"] == Self.stored)
            #expect(try await table.raw.item(id: "x")?["address"] == Self.stored)
        }
    }

    @Test(arguments: [ItemValue.null, ["city": 7, "zip": "1"]])
    func `a merged JSON property keeps the device's keys if the server's value has none that can be told`(
        _ theirs: ItemValue
    ) async throws {
        var settings = SyncSettings()
        settings.resolve(Place.self) { conflict in
            conflict.merged(preferring: .mine).map { .merge($0) } ?? .keepTheirs
        }
        try await withServer(.models(Place.self), settings: settings) { context, server in
            let table = context.table(Place.self)
            try await server.put("x", ["address": Self.stored], in: "Place")
            try await table.pull()
            try await table.update("x") { $0.address.city = "Bergen" }
            try await server.update("x", ["address": theirs], in: "Place")
            try await context.push()
            guard case .object(var fields) = Self.stored else { return }
            fields["city"] = "Bergen"
            #expect(try server.row("x", in: "Place")?.fields["address"] == .object(fields))
        }
    }

    @Test func `a set that the server has reordered is no conflict`() async throws {
        var settings = SyncSettings()
        settings.resolveByField(Place.self, onClash: .serverWins)
        try await withServer(.models(Place.self), settings: settings) { context, server in
            let table = context.table(Place.self)
            try await server.put("x", ["labels": ["a", "b", "c"]], in: "Place")
            try await table.pull()
            try await table.update("x") { $0.labels = ["a"] }
            try await server.update("x", ["labels": ["c", "b", "a"], "name": "theirs"], in: "Place")
            try await context.push()
            let fields = try server.row("x", in: "Place")?.fields
            #expect(fields == ["labels": ["a"], "name": "theirs"])
        }
    }
}
