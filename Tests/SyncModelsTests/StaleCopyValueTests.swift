// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncModels
import TableServer
import Testing

/// A form saves a copy that is older than the stored row. The base of the conflict has the stored values, which the copy may show
/// in another form.
@Suite struct StaleCopyValueTests {
    private struct Visit: SyncModel {
        var id = SyncID<Visit>()
        var title = "", note = "", time = Date(timeIntervalSince1970: 0), place = UUID(),
            priority = Priority.normal, labels: Labels = Labels(), sync = SystemProperties()
        static let schema = ModelSchema(
            "Visit", Visit(), .field("title", \.title), .field("note", \.note), .field("time", \.time),
            .field("place", \.place), .field("priority", \.priority), .json("labels", \.labels),
            .system(\.sync))
    }

    private struct Labels: Codable, Hashable, Sendable { var names: Set<String> = [] }

    /// The server has changed the title only, so no other change clashes.
    @Test(arguments: [false, true])
    func `a change of a value that the copy shows in another form is kept`(_ isSavedTwice: Bool) async throws
    {
        var settings = SyncSettings()
        settings.resolveByField(Visit.self, onClash: .serverWins)
        try await withServer(.models(Visit.self), settings: settings) { context, server in
            let table = context.table(Visit.self)
            let names = (0..<30).map { ItemValue.text("\($0)") }
            let original = try await staleCopy(
                of: [
                    "title": "A", "note": nil, "time": "2024-02-29T23:59:59.1234567Z",
                    "place": "ABCDEF00-0000-7000-8000-000000000000", "priority": "urgent",
                    "labels": ["names": .array(names)],
                ], changed: ["title": "B"], in: table, server)
            var edited = original
            if isSavedTwice {
                edited.note = "m"
                edited.labels.names = ["m"]
                try await table.save(edited, from: original)
            }
            edited.note = "mine"
            edited.time = Date(timeIntervalSince1970: 1.5)
            edited.place = try #require(UUID(uuidString: "ABCDEF00-0000-7000-8000-000000000001"))
            edited.priority = .low
            edited.labels.names = ["mine"]
            try await table.save(edited, from: original)
            try await context.push()
            let expected: [String: ItemValue] = [
                "title": "B", "note": "mine", "time": "1970-01-01T00:00:01.500Z",
                "place": "abcdef00-0000-7000-8000-000000000001", "priority": "low",
                "labels": ["names": ["mine"]],
            ]
            #expect(try server.row("x", in: "Visit")?.fields == expected)
        }
    }

    @Test func `a change of a local-only property clashes with nothing`() async throws {
        var settings = SyncSettings()
        // A clash would leave the operation pending, and the push would throw.
        settings.resolveByField(Page.self, onClash: .keepPending)
        try await withServer(.models(Page.self), settings: settings) { context, server in
            let table = context.table(Page.self)
            let original = try await staleCopy(
                of: ["title": "A"], changed: ["title": "B"], in: table, server)
            try await table.update("x") { $0.note = "newer" }
            var edited = original
            edited.body = "mine"
            edited.note = "mine"
            try await table.save(edited, from: original)
            try await context.push()
            let stored = try await table.get("x")
            #expect(stored?.title == "B" && stored?.body == "mine" && stored?.note == "mine")
        }
    }

    @Test
    func
        `a count of a copy counts, although another device has made the same and a local-only property changes`()
        async throws
    {
        var settings = SyncSettings()
        settings.resolveByField(Page.self)
        try await withServer(.models(Page.self), settings: settings) { context, server in
            let table = context.table(Page.self)
            let original = try await staleCopy(
                of: ["title": "A", "views": 5], changed: ["views": 6], in: table, server)
            var edited = original
            edited.views = 6
            edited.note = "mine"
            try await table.save(edited, from: original)
            try await context.push()
            #expect(try await table.get("x")?.views == 7)
            #expect(try server.row("x", in: "Page")?.fields["views"] == 7)
        }
    }
}
