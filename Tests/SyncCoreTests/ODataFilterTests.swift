// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import Testing

// Foundation has a `FilterExpression` too.
private typealias Expression = SyncCore.FilterExpression

struct ODataFilterTests {
    private static let date = Timestamp("2014-05-30T18:30:00.0000001Z")

    private static let literals: [(Filter, String)] = [
        (.column("complete") == false, "complete eq false"),
        (.column("text") != "O'Brien", "text ne 'O''Brien'"),
        (.column("text") == "''", "text eq ''''''"),
        (.column("text") == "'\u{301}", "text eq '''\u{301}'"),
        (.column("n") < 12, "n lt 12"),
        (.column("n") >= 2_147_483_647, "n ge 2147483647"),
        (.column("n") >= 2_147_483_648, "n ge 2147483648l"),
        (.column("n") > Int64.min, "n gt -9223372036854775808l"),
        (.column("n") <= 1.5, "n le 1.5"),
        (.column("n") == -0.0, "n eq -0.0"),
        (.column("n") == 1e300, "n eq 1e+300"),
        (.column("n") == ItemValue.null, "n eq null"),
        (.column("n") != ItemValue.null, "n ne null"),
        (.isNull(.column("n")), "n eq null"),
        (.always(true), "(1 eq 1)"),
        (.always(false), "(1 eq 0)"),
    ]

    @Test(arguments: literals)
    func `comparisons and literals are printed in OData syntax`(filter: Filter, text: String) throws {
        #expect(Array(try filter.odata(.v2).utf8) == Array(text.utf8))
    }

    @Test func `dates keep their digits in each dialect's form`() throws {
        let filter: Filter = .column("updatedAt") >= (try #require(Self.date))
        #expect(try filter.odata(.v1) == "__updatedAt ge datetimeoffset'2014-05-30T18:30:00.0000001Z'")
        #expect(try filter.odata(.v2) == "updatedAt ge datetimeoffset'2014-05-30T18:30:00.0000001Z'")
        #expect(
            try filter.odata(.v3) == "updatedAt ge cast(2014-05-30T18:30:00.0000001Z,Edm.DateTimeOffset)")
    }

    @Test func `functions have each dialect's name and argument order`() throws {
        let filter = Filter.contains(.column("text"), "a'b")
        #expect(try filter.odata(.v2) == "substringof('a''b',text)")
        #expect(try filter.odata(.v3) == "contains(text,'a''b')")
        #expect(try Filter.hasPrefix(.column("text"), "a").odata(.v2) == "startswith(text,'a')")
        #expect(try Filter.hasSuffix(.column("text"), "a").odata(.v3) == "endswith(text,'a')")
        #expect(try (Expression.lowercased(.column("text")) == "a").odata(.v2) == "tolower(text) eq 'a'")
        let position = Expression.call(
            .indexof, [.call(.concat, [.column("a"), .column("b")]), .constant("x")])
        #expect(try (position > 0).odata(.v2) == "indexof(concat(a,b),'x') gt 0")
        #expect(try (.column("n") == 5_000_000_000).odata(.v3) == "n eq 5000000000")
    }

    @Test func `a long list of values is one operator in the dialect that has it`() throws {
        func text(_ values: [ItemValue], _ dialect: WireDialect) throws -> String {
            try (.column("ok") == true && .membership(.column("a"), values)).odata(dialect)
        }
        let numbers = (1...5).map { ItemValue.int($0) }
        #expect(try text(numbers, .v3) == "ok eq true and a in (1,2,3,4,5)")
        #expect(try text(["p-1", "p-2", "x_3", "ü", "5"], .v3).contains("a eq 'p-1' or a eq 'p-2'"))
        #expect(try text(["p-1", "p-2", "x_3", "4", "5"], .v3).hasSuffix("a in ('p-1','p-2','x_3','4','5')"))
        for values in [["", "2", "3", "4", "5"], ["a'b", "2", "3", "4", "5"], ["a,b", "2", "3", "4", "5"]] {
            #expect(try !text(values.map(ItemValue.text), .v3).contains(" in "))
        }
        #expect(try !text(Array(numbers.prefix(4)), .v3).contains(" in "))
        #expect(try !text(numbers, .v2).contains(" in "))
    }

    private static let a: Filter = .column("a") == 1
    private static let b: Filter = .column("b") == 2
    private static let c: Filter = .column("c") == 3

    private static let conditions: [(Filter, String)] = [
        (a && b || c, "a eq 1 and b eq 2 or c eq 3"),
        (a && (b || c), "a eq 1 and (b eq 2 or c eq 3)"),
        ((a || b) && c, "(a eq 1 or b eq 2) and c eq 3"),
        (a && b && c, "a eq 1 and b eq 2 and c eq 3"),
        (a || (b || c), "a eq 1 or b eq 2 or c eq 3"),
        (!a, "not (a eq 1)"),
        (!(a || b) && c, "not (a eq 1 or b eq 2) and c eq 3"),
        (.all([]), "(1 eq 1)"),
        (.any([]), "(1 eq 0)"),
        (.any([a]) && b, "a eq 1 and b eq 2"),
        (.all([.any([a, b])]) && c, "(a eq 1 or b eq 2) and c eq 3"),
        (.isIn(.column("x"), [1, 2]), "x eq 1 or x eq 2"),
        (a && .isIn(.column("x"), ["p", "q"]), "a eq 1 and (x eq 'p' or x eq 'q')"),
        (a && .isIn(.column("x"), ["p"]), "a eq 1 and x eq 'p'"),
        (.isIn(.column("x"), [Int]()), "(1 eq 0)"),
        (.between(.column("x"), 1, 2), "x ge 1 and x le 2"),
    ]

    @Test(arguments: conditions)
    func `conditions have only the necessary parentheses`(filter: Filter, text: String) throws {
        #expect(try filter.odata(.v2) == text)
    }

    private static let sums: [(Expression, String)] = [
        (Expression.column("a") + 1 - 2, "a add 1 sub 2"),
        ((Expression.column("a") + 1) * 2, "(a add 1) mul 2"),
        (Expression.column("a") * 2 + 1, "a mul 2 add 1"),
        (.arithmetic(.sub, .column("a"), Expression.column("b") - 1), "a sub (b sub 1)"),
        (.arithmetic(.div, .column("a"), Expression.column("b") * 2), "a div (b mul 2)"),
        (.call(.round, [Expression.column("a") / 2]) % 3, "round(a div 2) mod 3"),
    ]

    @Test(arguments: sums)
    fileprivate func `arithmetic keeps its grouping`(expression: Expression, text: String) throws {
        #expect(try (expression == 7).odata(.v2) == text + " eq 7")
    }

    private static let refused: [Filter] = [
        .column("n") == Double.nan, .column("n") == Double.infinity, .column("n") == ItemValue.data(Data()),
        .column("n") == ItemValue.array([]),
        .column("n") == ItemValue.object([:]), .column("") == 1, .column("a b") == 1, .column("a;--") == 1,
        .column("a'") == 1, .column("1a") == 1, .column("é") == 1,
        .column("a/b") == 1,
        .column("a\u{301}") == 1, .isNull(.column("x y")), .membership(.column("n"), [1, .null]),
        .column("n") < ItemValue.null,
        .comparison(.equal, .constant(.null), .column("n")), .hasPrefix(.column("x)"), "y"),
        .isIn(.column("(x"), [1]), .text(.hasPrefix, .column("s"), .constant(.null)),
        .comparison(.equal, .call(.concat, [.column("s"), .constant(.null)]), .constant("a")),
    ]

    @Test(arguments: refused)
    func `a filter that OData cannot express is refused`(filter: Filter) {
        let error = #expect(throws: SyncError.self) { try filter.odata(.v2) }
        #expect(error?.code == .filterNotSupported)
    }

    @Test func `a null test of null is printed`() throws {
        #expect(try Filter.nullTest(.constant(.null)).odata(.v2) == "null eq null")
    }

    @Test func `ten thousand terms and deep nesting are printed without recursion`() throws {
        let term: Filter = .column("n") == 1
        let wide = Filter.isIn(.column("n"), Array(1...10_000))
        #expect(try wide.odata(.v2).hasSuffix(" or n eq 9999 or n eq 10000"))
        let chain = (2...10_000).reduce(term) { .any([$0, .column("n") == $1]) }
        #expect(try chain.odata(.v2) == wide.odata(.v2))
        let deep = (0..<10_000).reduce(term) { filter, _ in !filter }
        let text = try deep.odata(.v2)
        #expect(text.utf8.count == 10_000 * "not ()".utf8.count + "n eq 1".utf8.count)
        let sum = (1...10_000).reduce(Expression.column("n")) { sum, _ in sum + 1 }
        #expect(try (sum == 0).odata(.v2).hasSuffix(" add 1 add 1 eq 0"))
    }
}
