// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncModels
import TableServer
import Testing

/// Values that are equal and stored differently: sets, whose order is arbitrary, and dictionaries whose keys are not text.
@Suite struct EqualValueTests {
    private struct Box: SyncModel {
        var id = SyncID<Box>()
        var title = "", tags: Set<String> = [], counts: [UUID: Int] = [:], label = Label()
        static let schema = ModelSchema(
            "Box", Box(), .field("title", \.title), .json("tags", \.tags), .json("counts", \.counts),
            .json("label", \.label))
    }

    /// A type whose `==` compares a part of it.
    private struct Label: Codable, Equatable, Sendable {
        var number = 1, text = ""
        static func == (left: Label, right: Label) -> Bool { left.number == right.number }
    }

    /// Returns an equal set in another order.
    private static func reordered<Value: Hashable>(_ set: Set<Value>) -> Set<Value> {
        var copy = Set<Value>(minimumCapacity: set.count * 20)
        for value in set { copy.insert(value) }
        return copy
    }

    @Test func `an equal set or dictionary is not written`() async throws {
        try await withContext(.models(Box.self)) { context in
            let table = context.table(Box.self)
            let counts = Dictionary(uniqueKeysWithValues: (0..<30).map { (UUID(), $0) })
            let box = try await table.insert(Box(tags: Set((0..<30).map { "\($0)" }), counts: counts))
            let stored = try await table.raw.item(id: box.id.text)
            var edited = box
            edited.tags = Self.reordered(box.tags)
            edited.counts = [:]
            edited.counts.reserveCapacity(600)
            edited.counts.merge(counts) { _, new in new }
            #expect(Array(edited.tags) != Array(box.tags) && edited.tags == box.tags)
            try await table.save(edited, from: box)
            let copy = edited
            try await table.update(box.id) { ($0.tags, $0.counts) = (copy.tags, copy.counts) }
            #expect(try await table.raw.item(id: box.id.text)?.fields == stored?.fields)
            edited.tags.insert("new")
            edited.counts[UUID()] = 1
            let saved = try await table.save(edited, from: box)
            #expect(saved.tags == edited.tags && saved.counts == edited.counts)
        }
    }

    @Test func `a value whose other part has changed is written`() async throws {
        try await withContext(.models(Box.self)) { context in
            let table = context.table(Box.self)
            let box = try await table.insert(Box(label: Label(text: "old")))
            try await table.update(box.id) { $0.label.text = "new" }
            #expect(try await table.get(box.id)?.label.text == "new")
        }
    }

    @Test func `a merged model keeps the set of the server as it is stored`() async throws {
        var settings = SyncSettings()
        settings.resolve(Box.self) { conflict in
            guard var merged = conflict.merged() else { return .keepTheirs }
            merged.tags = Self.reordered(merged.tags)
            return .merge(merged)
        }
        try await withServer(.models(Box.self), settings: settings) { context, server in
            let table = context.table(Box.self)
            let tags = ItemValue.array((0..<30).map { .text("\($0)") })
            try await server.put("x", ["title": "base", "tags": tags], in: "Box")
            try await table.pull()
            try await table.update("x") { $0.title = "mine" }
            try await server.update("x", ["label": ["number": 2, "text": "theirs"]], in: "Box")
            try await context.push()
            let row = try server.row("x", in: "Box")
            #expect(row?.fields["title"] == "mine" && row?.fields["tags"] == tags)
        }
    }
}
