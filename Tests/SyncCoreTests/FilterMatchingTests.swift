// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
@_spi(StoreAuthor) import SyncCore
import Testing

/// The items that a filter matches, and the filters that are refused.
@Suite struct FilterMatchingTests {
    private static let definition = SyncTableDefinition(
        "T",
        columns: [
            SyncColumn("n", .integer), SyncColumn("d", .double), SyncColumn("t", .text),
            SyncColumn("b", .bool),
            SyncColumn("at", .date),
            SyncColumn("bytes", .data), SyncColumn("j", .json),
        ])

    private static let full = Item(
        id: "x",
        fields: [
            "n": 5, "d": 2.5, "t": "Straße e\u{301}", "b": true, "at": .date(.unixEpoch),
            "bytes": .data(Data([1, 2])),
            "j": ["k": 1],
        ],
        system: SystemProperties(updatedAt: .unixEpoch, version: "v1"))

    private static let empty = Item(id: "y", fields: ["n": .null])

    /// Returns the filters that the body adds. The compiler type-checks them faster than one array literal.
    private static func filters(_ body: ((Filter) -> Void) -> Void) -> [Filter] {
        var filters: [Filter] = []
        body { filters.append($0) }
        return filters
    }

    private static let matching = filters { add in
        add(.column("n") == 5)
        add(.column("n") != 4)
        add(.column("n") < 6)
        add(.column("n") <= 5)
        add(.column("n") > 4)
        add(.column("n") >= 5)
        add(.column("n") == 5.0)
        add(.column("d") > 2)
        add(.column("d") < 2.75)
        add(.column("n") < 5.5)
        add(.column("n") > 4.5)
        add(.column("t") == "Straße e\u{301}")
        add(.column("b") == true)
        add(.column("b") > false)
        add(.column("at") == Timestamp.unixEpoch.showing(fractionDigits: 9))
        add(.column("bytes") == Data([1, 2]))
        add(.column("bytes") < Data([1, 2, 0]))
        add(.column("id") == "x")
        add(.column("version") == "v1")
        add(.column("updatedAt") >= Timestamp.unixEpoch)
        add(.column("deleted") == false)
        add(.hasPrefix(.column("t"), "Str"))
        add(.hasSuffix(.column("t"), "\u{301}"))
        add(.contains(.column("t"), "ße"))
        add(.contains(.column("t"), ""))
        add(.isIn(.column("n"), [1, 5]))
        add(.between(.column("n"), 5, 5))
        add(!(.column("n") == 4))
        add(.column("n") == 5 && .column("b") == true)
        add(.column("n") == 4 || .column("b") == true)
        add(.always(true))
        add(.all([]))
        add(.not(.any([])))
        add(.column("j") != ItemValue.null)
        add(FilterExpression.column("n") + 1 == 6)
        add(FilterExpression.column("n") % 3 == 2)
        add(FilterExpression.column("n") / 2 == 2)
        add(FilterExpression.column("n") * 1.5 == 7.5)
        add(FilterExpression.length(.column("t")) == 9)
        add(FilterExpression.lowercased(.column("t")) == "straße e\u{301}")
        add(FilterExpression.year(.column("at")) == 1970)
    }

    private static let nonmatching = filters { add in
        add(.column("t") == "Straße \u{E9}")
        add(.contains(.column("t"), "\u{E9}"))
        add(.column("n") == 6)
        add(.column("t") == "straße e\u{301}")
        add(.isIn(.column("n"), [Int]()))
        add(.always(false))
        add(.any([]))
        add(FilterExpression.column("n") / 0 == 0)
        add(.column("n") == ItemValue.null)
    }

    private static let unknown = filters { add in
        add(.column("n") == 5)
        add(.column("n") != 5)
        add(!(.column("n") == 5))
        add(.column("t") < "a")
        add(.hasPrefix(.column("t"), ""))
        add(!Filter.contains(.column("t"), "x"))
        add(.isIn(.column("n"), [1]))
        add(!Filter.isIn(.column("n"), [1]))
        add(FilterExpression.column("n") + 1 != 0)
        add(!(.column("n") > 1 && .column("n") < 3))
    }

    private static let refused = filters { add in
        add(.column("nosuch") == 1)
        add(.column("N") == 1)
        add(.column("n") == "5")
        add(.column("t") == 5)
        add(.column("b") == 1)
        add(.column("at") == "1970-01-01T00:00:00Z")
        add(.column("j") == 1)
        add(.column("n") == Double.nan)
        add(.contains(.column("n"), "x"))
        add(.hasPrefix(.column("j"), "x"))
        add(.isIn(.column("n"), ["x"]))
        add(FilterExpression.column("t") + 1 == 2)
        add(.nullTest(.constant(.array([]))))
        add(FilterExpression.column("d") % 2 == 1)
        add(FilterExpression.length(.column("n")) == 1)
        add(FilterExpression.year(.column("t")) == 1970)
        add(.comparison(.equal, .column("n"), .column("t")))
        add(.comparison(.equal, .call(.concat, [.column("t")]), .constant("x")))
    }

    @Test(arguments: matching)
    func `a filter matches`(_ filter: Filter) throws {
        try TableQuery("T").where(filter).validate(against: Self.definition)
        #expect(filter.matches(Self.full))
        #expect(!(!filter).matches(Self.full))
    }

    @Test(arguments: nonmatching)
    func `a filter does not match`(_ filter: Filter) throws {
        try TableQuery("T").where(filter).validate(against: Self.definition)
        #expect(!filter.matches(Self.full))
    }

    @Test(arguments: unknown)
    func `null and missing fields match neither a comparison nor its negation`(_ filter: Filter) {
        #expect(!filter.matches(Self.empty))
    }

    @Test func `and, or and not follow three-valued logic`() {
        let unknown: Filter = .column("n") == 5
        #expect((unknown || .always(true)).matches(Self.empty))
        #expect(!(unknown && .always(true)).matches(Self.empty))
        #expect((!(unknown && .always(false))).matches(Self.empty))
        #expect(!(!(unknown || .always(false))).matches(Self.empty))
        #expect(Filter.isNull(.column("n")).matches(Self.empty))
        #expect((.column("t") == ItemValue.null).matches(Self.empty))
        #expect(!(.column("t") != ItemValue.null).matches(Self.empty))
    }

    @Test func `integers and doubles compare exactly by value`() {
        let item = Item(id: "x", fields: ["n": .int((1 << 53) + 1), "d": .double(0x1p53)])
        #expect((.column("n") > 0x1p53).matches(item))
        #expect(!(.column("n") == 0x1p53).matches(item))
        #expect((.column("d") < (1 << 53) + 1).matches(item))
        #expect((.column("n") < 1e300).matches(item))
        #expect((.column("n") > -1e300).matches(item))
        #expect((.column("d") == Int64(1) << 53).matches(item))
    }

    @Test func `NaN matches no comparison`() {
        let item = Item(id: "x", fields: ["d": .double(.nan)])
        let column = FilterExpression.column("d")
        for comparison in Filter.Comparison.allCases {
            let filters: [Filter] = [
                .comparison(comparison, column, .constant(1)), .comparison(comparison, .constant(1), column),
                .comparison(comparison, column, .constant(1.5)), .comparison(comparison, column, column),
            ]
            for filter in filters {
                #expect(!filter.matches(item))
                #expect(!(!filter).matches(item))
            }
        }
    }

    @Test(arguments: refused)
    func `a filter that cannot be evaluated is refused`(_ filter: Filter) {
        for query in [TableQuery("T").where(filter), TableQuery("T").where(.column("n") == 1 || !filter)] {
            #expect { try query.validate(against: Self.definition) } throws: { error in
                (error as? SyncError)?.code == .filterNotSupported
            }
        }
    }

    private static let messages: [(query: TableQuery, message: String)] = [
        (
            TableQuery("T").where(.column("n") == "5"),
            "A filter on 'T' cannot compare the column 'n' of type integer with a constant of type text."
        ),
        (
            TableQuery("T").where(.column("j") == "x"),
            "A filter on 'T' cannot compare the column 'j' of type json with a constant of type text. JSON can only be tested "
                + "for null."
        ),
        (
            TableQuery("T").where(.isIn(.column("at"), [1])),
            "A filter on 'T' cannot compare the column 'at' of type date with a constant of type integer."
        ),
        (
            TableQuery("T").where(FilterExpression.column("n") + 1 == "5"),
            "A filter on 'T' cannot compare an expression of type integer with a constant of type text."
        ),
        (
            TableQuery("T").where(.contains(.column("n"), "x")),
            "A text test in a filter on 'T' takes text, not the column 'n' of type integer."
        ),
        (
            TableQuery("T").where(FilterExpression.column("d") % 2 == 1),
            "'mod' in a filter on 'T' takes integer, not the column 'd' of type double."
        ),
        (
            TableQuery("T").where(FilterExpression.length(.column("n")) == 1),
            "'length' in a filter on 'T' takes text, not the column 'n' of type integer."
        ),
        (
            TableQuery("T").order(by: "j"),
            "A query on 'T' cannot be ordered by the column 'j' of type json."
        ),
    ]

    @Test(arguments: messages)
    func `the error of a query names the column and its type`(query: TableQuery, message: String) {
        let error = #expect(throws: SyncError.self) { try query.validate(against: Self.definition) }
        #expect(error?.message == message)
    }

    @Test func `offset, limit, orderings and selection are validated`() {
        let queries = [
            TableQuery("T").offset(-1), TableQuery("T").limit(-1), TableQuery("T").order(by: "nosuch"),
            TableQuery("T").order(by: "j"), TableQuery("T").select("nosuch"),
            TableQuery("T").order(by: FilterExpression.column("n") + 1),
            TableQuery("T").order(by: "id; DROP TABLE T"),
        ]
        for query in queries {
            #expect(throws: SyncError.self) { try query.validate(against: Self.definition) }
        }
    }

    @Test func `deep filters are refused, and long filters are accepted`() throws {
        let deep = (0..<2000).reduce(.column("n") == 1) { filter, _ in !filter }
        #expect(throws: SyncError.self) { try TableQuery("T").where(deep).validate(against: Self.definition) }
        let long = (0..<10_000).reduce(.column("n") == -1) { filter, number in
            filter || .column("n") == number
        }
        try TableQuery("T").where(long).validate(against: Self.definition)
        #expect(long.matches(Self.full))
    }

    @Test func `nulls sort first, then values, and equal values by the bytes of their ids`() {
        let items = [("d", nil), ("c", 2), ("B", 1), ("a", 1), ("e", .null)] as [(String, ItemValue?)]
        let rows = items.map { id, value in Item(id: id, fields: value.map { ["n": $0] } ?? [:]) }
        let query = TableQuery("T").order(by: "n")
        #expect(query.apply(to: rows).items.map(\.id) == ["d", "e", "B", "a", "c"])
        #expect(
            TableQuery("T").order(byDescending: "n").apply(to: rows).items.map(\.id) == [
                "c", "B", "a", "d", "e",
            ])
        let page = query.offset(1).limit(2).includingTotalCount().apply(to: rows)
        #expect(page.items.map(\.id) == ["e", "B"])
        #expect(page.totalCount == 5)
        #expect(query.limit(0).includingTotalCount().apply(to: rows).totalCount == 5)
    }
}
