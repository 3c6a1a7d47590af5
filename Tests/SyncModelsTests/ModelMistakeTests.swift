// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncModels
import Testing

/// Mistakes in calls, and the messages that name the model, the property, the row and the remedy.
@Suite struct ModelMistakeTests {
    @Test func `a model that the store was opened without`() async throws {
        try await withContext(.models(TodoList.self)) { context in
            let table = context.table(Page.self)
            let expected = """
                The store has no table 'Page'. It was opened with 'TodoList'. Add Page.self to the models that the store \
                is opened with.
                """
            #expect(await message { try await table.get("x") } == expected)
            #expect(await message { try await table.fetch() } == expected)
            #expect(await message { try await table.count() } == expected)
            #expect(await message { try await table.insert(Page()) } == expected)
            #expect(await message { try await table.update("x") { $0.body = "" } } == expected)
            #expect(await message { try await table.delete("x") } == expected)
            #expect(await message { try await table.problems() } == expected)
            #expect(await message { try await table.pull() } == expected)
            #expect(await message { try await table.purge() } == expected)
            #expect(await message { try await context.push(Page.self) } == expected)
            #expect(await message { try await context.sync(Page.all.pull()) } == expected)
        }
    }

    @Test func `an id that changes`() async throws {
        try await withContext(.models(Page.self)) { context in
            let table = context.table(Page.self)
            let page = try await table.insert(Page(id: "x"))
            let expected = """
                The id of Page 'x' cannot be changed to 'y'. Insert a Page with the new id, and delete this one.
                """
            #expect(await message { try await table.update("x") { $0.id = "y" } } == expected)
            #expect(await message { try await table.save(Page(id: "y"), from: page) } == expected)
        }
    }

    @Test func `a change of a property that the server sets`() async throws {
        try await withContext(.models(Page.self)) { context in
            let table = context.table(Page.self)
            try await table.insert(Page(id: "x"))
            #expect(
                await message { try await table.update("x") { $0.sync.version = "1" } }
                    == "Page.sync of 'x' cannot be changed: the server sets it. Nothing was changed.")
            #expect(
                await message { try await table.update("x") { $0.more["color"] = "red" } }
                    == """
                    Page.more of 'x' cannot be changed: it shows undeclared columns; declare a column to write it. \
                    Nothing was changed.
                    """)
        }
    }

    @Test func `a model that does not exist`() async throws {
        try await withContext(.models(Page.self)) { context in
            let table = context.table(Page.self)
            let expected = "There is no Page 'x' in 'Page'. It was deleted, or never inserted."
            #expect(await message { try await table.update("x") { $0.body = "" } } == expected)
            #expect(
                await message { try await table.save(Page(id: "x", body: "a"), from: Page(id: "x")) }
                    == expected)
            #expect(await message { try await table.delete("x") } == expected)
        }
    }

    @Test func `an insert of a model that exists, and an id that is not valid`() async throws {
        try await withContext(.models(Page.self)) { context in
            let table = context.table(Page.self)
            try await table.insert(Page(id: "x"))
            #expect(
                await message { try await table.insert(Page(id: "x")) }
                    == "There is already an item 'x' in 'Page'; update it instead.")
            #expect(
                await message { try await table.insert(Page(id: "")) }
                    == "The id of an item in 'Page' is not valid: it is empty.")
        }
    }

    @Test func `a value that cannot be stored`() async throws {
        struct Measure: SyncModel {
            var id = SyncID<Measure>()
            var value = 0.0
            var series: [Double] = []
            static let schema = ModelSchema(
                "Measure", Measure(), .field("value", \.value), .json("series", \.series))
        }
        try await withContext(.models(Measure.self)) { context in
            let table = context.table(Measure.self)
            let number = await message { try await table.insert(Measure(id: "x", value: .nan)) }
            #expect(
                number == """
                    Measure.value of 'x' cannot be stored in the column 'value': it is not a finite number. Nothing \
                    was changed.
                    """)
            try await table.insert(Measure(id: "x"))
            let list = await message { try await table.update("x") { $0.series = [.infinity] } }
            #expect(
                list == """
                    Measure.series of 'x' cannot be stored in the column 'series': Unable to encode Double.inf \
                    directly in JSON. Nothing was changed.
                    """)
            let stored = try await table.get("x")
            #expect(stored?.series == [])
        }
    }

    @Test func `a number in JSON that cannot be stored exactly`() async throws {
        struct Coin: SyncModel {
            var id = SyncID<Coin>()
            var name = "", hash = UInt64(0), price = Decimal(0), owners: [[String: UInt64]] = []
            static let schema = ModelSchema(
                "Coin", Coin(), .field("name", \.name), .json("hash", \.hash), .json("price", \.price),
                .json("owners", \.owners))
        }
        let (long, short) = (Decimal(string: "12345678901234567890.12"), Decimal(string: "19.99"))
        let (longPrice, price) = (try #require(long), try #require(short))
        try await withContext(.models(Coin.self)) { context in
            let table = context.table(Coin.self)
            let coin = Coin(id: "x", hash: 9_223_372_036_854_775_809)
            let hashMessage = await message { try await table.insert(coin) }
            #expect(
                hashMessage == """
                    Coin.hash of 'x' cannot be stored in the column 'hash': it has a number with more digits than a \
                    64-bit integer or a double holds; store the number as text. Nothing was changed.
                    """)
            let owned = Coin(id: "x", owners: [["a": 1], ["b": .max]])
            let ownersMessage = await message { try await table.insert(owned) }
            #expect(
                ownersMessage == """
                    Coin.owners of 'x' cannot be stored in the column 'owners': it has a number at '[1].b' with more \
                    digits than a 64-bit integer or a double holds; store the number as text. Nothing was changed.
                    """)
            try await table.insert(Coin(id: "x", hash: UInt64(Int64.max), price: price))
            let priceMessage = await message { try await table.update("x") { $0.price = longPrice } }
            #expect(priceMessage?.hasPrefix("Coin.price of 'x' cannot be stored") == true)
            let stored = try #require(try await table.get("x"))
            #expect(stored.hash == UInt64(Int64.max) && stored.price == price)
            // Another client has stored a double.
            try await table.raw.update(id: "x", ["hash": 9.3e18])
            try await table.update("x") { $0.name = "penny" }
            #expect(try await table.raw.item(id: "x")?["hash"] == 9.3e18)
        }
    }
}
