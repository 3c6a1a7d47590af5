// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import SyncModels
import TableServer
import Testing

private struct Row: SyncModel {
    var id = SyncID<Row>()
    var number = 2, flag = true, text = "blank", size: Double?, name: String?, level = Priority.normal
    var tags: [String]?
    var double: Int { number * 2 }
    var own: SyncID<Row> { id }
    static let schema = ModelSchema(
        "Row", Row(), .field("number", \.number, .indexed), .field("flag", \.flag), .field("text", \.text),
        .field("size", \.size), .field("name", \.name), .field("level", \.level), .json("tags", \.tags))
}

/// Typed filters and orders.
@Suite struct ModelQueryTests {
    /// Filters with the predicates of models that they stand for. A comparison does not match an optional that
    /// is `nil`.
    private static let filters: [(query: ModelQuery<Row>, predicate: @Sendable (Row) -> Bool)] = [
        (Row.where { $0.flag }, { $0.flag }),
        (Row.where { !$0.flag }, { !$0.flag }),
        (Row.where { !(!$0.flag) }, { $0.flag }),
        (Row.where { $0.flag == false }, { $0.flag == false }),
        (Row.where { $0.number == 2 }, { $0.number == 2 }),
        (Row.where { $0.number != 2 }, { $0.number != 2 }),
        (Row.where { $0.number < 2 }, { $0.number < 2 }),
        (Row.where { $0.number <= 2 }, { $0.number <= 2 }),
        (Row.where { $0.number > 1 }, { $0.number > 1 }),
        (Row.where { $0.number >= 3 }, { $0.number >= 3 }),
        (Row.where { !($0.number > 1) }, { !($0.number > 1) }),
        (Row.where { $0.number.isIn([0, 2]) }, { [0, 2].contains($0.number) }),
        (Row.where { !$0.number.isIn([0, 2]) }, { ![0, 2].contains($0.number) }),
        (Row.where { !$0.number.isIn([]) }, { _ in true }),
        (Row.where { !$0.number.isIn([0, 1]) }, { ![0, 1].contains($0.number) }),
        (Row.where { !($0.number == 3) }, { $0.number != 3 }),
        (Row.where { !$0.text.hasSuffix("A") }, { !$0.text.hasSuffix("A") }),
        (Row.where { !($0.number == 2 && $0.flag) }, { !($0.number == 2 && $0.flag) }),
        (Row.where { !($0.number == 2 || !$0.flag) }, { !($0.number == 2 || !$0.flag) }),
        (
            Row.where { $0.level == .normal || $0.level == .high },
            { $0.level == .normal || $0.level == .high }
        ),
        (Row.where { $0.text.contains("an") }, { $0.text.contains("an") }),
        (Row.where { !$0.text.hasPrefix("bl") }, { !$0.text.hasPrefix("bl") }),
        (Row.where { $0.text.hasSuffix("A") }, { $0.text.hasSuffix("A") }),
        (Row.where { $0.text.lowercased().hasSuffix("a") }, { $0.text.lowercased().hasSuffix("a") }),
        (Row.where { $0.text.uppercased() == "BLANK" }, { $0.text.uppercased() == "BLANK" }),
        (Row.where { $0.size == nil }, { $0.size == nil }),
        (Row.where { $0.size != nil }, { $0.size != nil }),
        (Row.where { !($0.size == nil) }, { $0.size != nil }),
        (Row.where { $0.size == 1.5 }, { $0.size == 1.5 }),
        (Row.where { $0.size < 1.5 }, { $0.size.map { $0 < 1.5 } ?? false }),
        (Row.where { $0.size <= 1.5 }, { $0.size.map { $0 <= 1.5 } ?? false }),
        (Row.where { $0.size > 0.5 }, { $0.size.map { $0 > 0.5 } ?? false }),
        (Row.where { $0.size >= 0.5 }, { $0.size.map { $0 >= 0.5 } ?? false }),
        (Row.where { !($0.size < 1.5) }, { $0.size.map { !($0 < 1.5) } ?? false }),
        (Row.where { $0.name.contains("x") }, { $0.name?.contains("x") ?? false }),
        (Row.where { $0.name == "x" && !$0.flag }, { $0.name == "x" && !$0.flag }),
        (Row.where { $0.isNull(\.tags) }, { $0.tags == nil }),
        (Row.where { !$0.isNull(\.tags) && $0.id != "1" }, { $0.tags != nil && $0.id != "1" }),
        (Row.where { $0.id.isIn(["1", "2"]) }, { ["1", "2"].contains($0.id) }),
        (Row.where { $0.size.isIn([1.5, 2.5]) }, { [1.5, 2.5].contains($0.size) }),
        (Row.where { !$0.size.isIn([1.5]) }, { $0.size.map { $0 != 1.5 } ?? false }),
        (Row.where { $0.size.isIn([nil, 1.5]) }, { [nil, 1.5].contains($0.size) }),
        (Row.where { !$0.size.isIn([nil, 1.5]) }, { ![nil, 1.5].contains($0.size) }),
        (Row.where { $0.size.isIn([nil]) }, { $0.size == nil }),
        (Row.where { !$0.size.isIn([nil]) }, { $0.size != nil }),
        (Row.where { $0.flag }.where { $0.number > 1 }, { $0.flag && $0.number > 1 }),
    ]

    @Test(arguments: StoreKind.allCases)
    func `a filter matches the models for which its predicate is true, also where columns are null`(
        _ kind: StoreKind
    ) async throws {
        var random = SeededGenerator(seed: 3)
        try await withContext(on: kind, .models(Row.self)) { context in
            let table = context.table(Row.self)
            for number in 0..<80 {
                var fields: [String: ItemValue] = [
                    "number": .int(.random(in: 0...4, using: &random)),
                    "flag": .bool(.random(using: &random)),
                    "text": ["banana", "blanA", "", "Blank"].randomElement(using: &random)!,
                    "size": [0.5, 1.5, 2.5].randomElement(using: &random)!,
                    "name": ["x", "y", "xy"].randomElement(using: &random)!,
                    "level": ["low", "normal", "high"].randomElement(using: &random)!, "tags": ["a"],
                ]
                for name in fields.keys.sorted() {
                    switch Int.random(in: 0...5, using: &random) {
                    case 0: fields[name] = .some(.null)
                    case 1: fields[name] = nil
                    default: break
                    }
                }
                fields["id"] = .text("\(number)")
                try await table.raw.insert(fields)
            }
            let all = try await table.fetch()
            for (number, (query, predicate)) in Self.filters.enumerated() {
                let expected = all.filter(predicate).map(\.id)
                #expect(try await table.fetch(query).map(\.id) == expected, "filter \(number)")
                #expect(try await table.count(query) == expected.count)
            }
        }
    }

    @Test func `a filter of a required field is one comparison`() {
        let query = Page.where { $0.title == "a" }
        #expect(query.raw.filter == .comparison(.equal, .column("title"), .constant("a")))
    }

    @Test func `a query has the order, window and count of its methods`() {
        let query = Row.all.order(by: \.text).order(by: \.size, descending: true).order(by: \.id).offset(1)
            .limit(2)
            .includingTotalCount()
        let expected = TableQuery("Row").order(by: "text").order(byDescending: "size").order(by: "id").offset(
            1
        )
        .limit(2).includingTotalCount()
        #expect(query.raw == expected)
    }

    @Test func `a condition may be a filter of the table`() {
        let filter: Filter = .column("number") == 1
        #expect(Row.where { _ in Where(filter) }.raw.filter == filter)
        #expect(Row.where { _ in !Where<Row>(filter) }.raw.filter == .not(filter))
    }

    @Test func `equal queries are equal, and others are not`() {
        #expect(Row.where { $0.number == 1 } == Row.where { $0.number == 1 })
        #expect(Row.where { $0.number == 1 } != Row.where { $0.number == 2 })
        #expect(Row.all.order(by: \.text) != Row.all.order(by: \.number))
    }

    @Test func `the times and the version of the server's row can be in a filter and in an order`()
        async throws
    {
        try await withServer(.models(Page.self)) { context, server in
            for title in ["b", "a"] { try await server.put(title, ["title": .text(title)], in: "Page") }
            try await context.sync(Page.all.pull())
            let table = context.table(Page.self)
            let latest = Page.where { $0(\.sync.updatedAt) != nil && $0(\.sync.version) != nil }
                .order(by: \.sync.updatedAt, descending: true).order(by: \.sync.createdAt)
            #expect(try await table.fetch(latest).map(\.title) == ["a", "b"])
            #expect(try await table.fetch(Page.where { $0(\.sync.updatedAt) == nil }).isEmpty)
        }
    }

    @Test func `queries of a property without a column throw when they run`() async throws {
        try await withContext(.models(Row.self)) { context in
            let table = context.table(Row.self)
            let expected = """
                A query of Row uses Row.<computed property>, which has no column. Add a field to the schema, or filter \
                the fetched models.
                """
            let queries = [
                Row.where { $0.double == 4 }, Row.where { $0.flag || $0.double == 4 },
                Row.all.order(by: \.double), Row.where { $0.own == "1" }, Row.all.order(by: \.own),
                Row.where { $0.isNull(\.double) },
            ]
            for query in queries {
                #expect(await message { try await table.fetch(query) } == expected)
                #expect(await message { try await table.count(query) } == expected)
                #expect(await message { try await table.purge(query, pending: .discard) } == expected)
                #expect(await message { try await context.sync(query.pull()) } == expected)
            }
        }
    }
}
