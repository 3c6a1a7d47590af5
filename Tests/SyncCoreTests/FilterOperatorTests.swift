// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import Testing

/// The operands of a filter's comparison operators.
struct FilterOperatorTests {
    private static let text = SyncColumn("text", .text)
    private static let complete = SyncColumn("complete", .bool)

    private static func comparison(
        _ comparison: Filter.Comparison, _ column: String, _ constant: ItemValue
    ) -> Filter {
        .comparison(comparison, .column(column), .constant(constant))
    }

    @Test func `a declared column compares with literals`() {
        let filters: [Filter] = [
            Self.complete == false, Self.text == "x", Self.text != "x", Self.text == nil, Self.text != nil,
            Self.text < 5, Self.text <= 5, Self.text > 2.5, Self.text >= 2.5,
        ]
        #expect(
            filters == [
                Self.comparison(.equal, "complete", false), Self.comparison(.equal, "text", "x"),
                Self.comparison(.notEqual, "text", "x"), Self.comparison(.equal, "text", .null),
                Self.comparison(.notEqual, "text", .null), Self.comparison(.less, "text", 5),
                Self.comparison(.lessOrEqual, "text", 5), Self.comparison(.greater, "text", 2.5),
                Self.comparison(.greaterOrEqual, "text", 2.5),
            ])
    }

    @Test func `a comparison with a column is a filter without a type annotation`() {
        let open = Self.complete == false
        let untitled = Self.text == nil
        #expect(type(of: open) == Filter.self && type(of: untitled) == Filter.self)
    }

    @Test func `constants may be of any convertible type or its optional`() {
        let (some, none): (String?, String?) = ("x", nil)
        let date = Date(timeIntervalSince1970: 1)
        let filters: [Filter] = [
            Self.text == some, Self.text == none, Self.text == ItemValue.int(1), Self.text == date,
            Self.text == Timestamp(date), Self.text == Data([1]), Self.text == Int64(1),
        ]
        #expect(
            filters == [
                Self.comparison(.equal, "text", "x"), Self.comparison(.equal, "text", .null),
                Self.comparison(.equal, "text", 1),
                Self.comparison(.equal, "text", .date(Timestamp(date))),
                Self.comparison(.equal, "text", .date(Timestamp(date))),
                Self.comparison(.equal, "text", .data(Data([1]))), Self.comparison(.equal, "text", 1),
            ])
    }

    @Test func `a column compares with a column or an expression`() {
        let same = Filter.comparison(.equal, .column("text"), .column("complete"))
        let filters: [Filter] = [
            Self.text == Self.complete, Self.text == FilterExpression.column("complete"),
            FilterExpression.column("text") == Self.complete, .column("text") == .column("complete"),
        ]
        #expect(filters.allSatisfy { $0 == same })
        #expect(
            (Self.text <= Self.complete)
                == Filter.comparison(.lessOrEqual, .column("text"), .column("complete")))
    }

    @Test func `a column name can be used wherever a column is expected`() {
        let query = TableQuery("Todo")
            .where(.column("text") == "x" && (.column("complete") != true || !.isNull(.column("text"))))
            .where(.hasPrefix(.column("text"), "x"))
            .order(by: "text").order(by: .column("text")).order(by: Self.text)
            .order(byDescending: "text").order(byDescending: .column("text")).order(byDescending: Self.text)
        #expect(
            query.filter
                == .all([
                    Self.text == "x", .any([Self.complete != true, .not(.isNull(Self.text))]),
                    .hasPrefix(Self.text, "x"),
                ]))
        #expect(query.orderings.allSatisfy { $0.expression == .column("text") })
        #expect(query.orderings.map(\.isDescending) == [false, false, false, true, true, true])
    }

    @Test func `arithmetic and functions compare like columns`() {
        #expect(
            (FilterExpression.column("n") + 1 == 4)
                == Filter.comparison(.equal, .arithmetic(.add, .column("n"), .constant(1)), .constant(4)))
        #expect(
            (FilterExpression.length(Self.text) > 3)
                == Filter.comparison(.greater, .call(.length, [.column("text")]), .constant(3)))
    }
}
