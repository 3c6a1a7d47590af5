// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncModels
import TableServer
import Testing

/// The order of values in JSON columns: that of an array counts, that of a set does not.
@Suite struct JSONOrderTests {
    private struct Game: SyncModel {
        var id = SyncID<Game>()
        var title = "", deck = Deck()
        static let schema = ModelSchema("Game", Game(), .field("title", \.title), .json("deck", \.deck))
    }

    /// A type whose `==` compares its number only.
    private struct Deck: Codable, Equatable, Sendable {
        enum Card: Codable, Sendable { case plain(Int), pair(Int, Int) }

        var number = 1, cards: [Card] = [], piles: [String: [Int]] = [:], points: [Bool: Int] = [:],
            tags: Set<String> = []
        static func == (left: Deck, right: Deck) -> Bool { left.number == right.number }
    }

    private static let deck = Deck(
        cards: [.plain(1), .pair(2, 3)], piles: ["a": [1, 2], "b": [2, 1]], points: [true: 1, false: 2],
        tags: Set((0..<30).map { "\($0)" }))

    @Test func `a value in another order is written, also if it is equal for the app`() async throws {
        var decks = [Self.deck, Self.deck, Self.deck]
        decks[0].cards.reverse()
        decks[1].piles = ["a": [2, 1], "b": [1, 2]]
        decks[2].points = [true: 2, false: 1]
        try await withContext(.models(Game.self)) { context in
            let table = context.table(Game.self)
            for deck in decks {
                let game = try await table.insert(Game(deck: Self.deck))
                let former = try await table.raw.item(id: game.id.text)
                try await table.update(game.id) { $0.deck = deck }
                let current = try await table.raw.item(id: game.id.text)
                #expect(current?["deck"] != former?["deck"])
            }
        }
    }

    /// An ordered set, and vectors, have the mirror of a set, or none that shows their elements.
    @Test func `the order of a type with a custom mirror counts`() async throws {
        struct Names: Codable, Sendable, CustomReflectable {
            var names = ["a", "b"]
            var customMirror: Mirror { Mirror(self, unlabeledChildren: names, displayStyle: .set) }
        }
        struct Path: SyncModel {
            var id = SyncID<Path>()
            var names = Names(), direction: SIMD3<Float> = [1, 0, 0]
            static let schema = ModelSchema(
                "Path", Path(), .json("names", \.names), .json("direction", \.direction))
        }
        try await withContext(.models(Path.self)) { context in
            let table = context.table(Path.self)
            let path = try await table.insert(Path())
            try await table.update(path.id) { edited in
                edited.names.names.reverse()
                edited.direction = [0, 1, 0]
            }
            let stored = try #require(try await table.get(path.id))
            #expect(stored.names.names == ["b", "a"] && stored.direction == [0, 1, 0])
        }
    }

    @Test func `a set in another order is not written, also beside an array`() async throws {
        try await withContext(.models(Game.self)) { context in
            let table = context.table(Game.self)
            let game = try await table.insert(Game(deck: Self.deck))
            let former = try await table.raw.item(id: game.id.text)
            var edited = game
            edited.deck.tags = Set(minimumCapacity: 600)
            edited.deck.tags.formUnion(game.deck.tags)
            #expect(Array(edited.deck.tags) != Array(game.deck.tags))
            try await table.save(edited, from: game)
            #expect(try await table.raw.item(id: game.id.text)?.fields == former?.fields)
        }
    }

    /// Changes the number of the stored deck on the device, and expects that this clashes with the server's deck.
    private func expectClash(with theirs: ItemValue) async throws {
        var settings = SyncSettings()
        settings.resolveByField(Game.self, onClash: .serverWins)
        try await withServer(.models(Game.self), settings: settings) { context, server in
            let table = context.table(Game.self)
            try await server.put("x", ["deck": .object(Self.stored)], in: "Game")
            try await table.pull()
            try await table.update("x") { $0.deck.number = 2 }
            try await server.update("x", ["deck": theirs], in: "Game")
            try await context.push()
            #expect(try server.row("x", in: "Game")?.fields["deck"] == theirs)
        }
    }

    private static let stored: [String: ItemValue] = [
        "number": 1, "cards": [], "piles": ["a": [1, 2]], "points": [], "tags": ["a", "b", "c"],
        "drawn": [1, 2],
    ]

    @Test func `an array that the server has reordered is a change of the server`() async throws {
        var theirs = Self.stored
        theirs["piles"] = ["a": [2, 1]]
        try await expectClash(with: .object(theirs))
    }

    /// A newer version of the app has added it.
    @Test func `an array that the type does not have and the server has reordered is a change of the server`()
        async throws
    {
        var theirs = Self.stored
        theirs["drawn"] = [2, 1]
        try await expectClash(with: .object(theirs))
    }

    @Test func `a set that the server has reordered is no change of the server, also beside an array`()
        async throws
    {
        var settings = SyncSettings()
        settings.resolveByField(Game.self, onClash: .serverWins)
        try await withServer(.models(Game.self), settings: settings) { context, server in
            let table = context.table(Game.self)
            var deck = Self.stored
            try await server.put("x", ["deck": .object(deck)], in: "Game")
            try await table.pull()
            try await table.update("x") { game in
                game.deck.number = 2
                game.deck.tags = ["a"]
            }
            deck["tags"] = ["c", "b", "a"]
            try await server.update("x", ["deck": .object(deck)], in: "Game")
            try await context.push()
            deck["number"] = 2
            deck["tags"] = ["a"]
            #expect(try server.row("x", in: "Game")?.fields["deck"] == .object(deck))
        }
    }
}
