// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

import struct Foundation.Data

extension StoreRule {
    /// Comparisons in filters.
    @RuleList static var comparisons: [StoreRule] {
        filters(
            "query.equal", "Equal matches items whose value is the constant.", (.column("count") == 10, "c")
        )
        filters(
            "query.not-equal", "Not equal matches other values, but not null.",
            (.column("count") != 10, "a b d g h i j k l"))
        filters("query.less", "Less excludes the constant.", (.column("count") < 1, "d g i"))
        filters(
            "query.less-or-equal", "Less or equal includes the constant.", (.column("count") <= 1, "a d g i"))
        filters("query.greater", "Greater excludes the constant.", (.column("count") > 2, "c h j k l"))
        filters(
            "query.greater-or-equal", "Greater or equal includes the constant.",
            (.column("count") >= 2, "b c h j k l")
        )
        filters(
            "query.between", "Between includes both bounds.", (.between(.column("count"), 0, 10), "a b c d"))
        filters(
            "query.integer.exact", "Integers beyond the precision of a double compare exactly.",
            (.column("count") == Int64(9_007_199_254_740_993), "j"),
            (.column("count") == Int64(9_007_199_254_740_992), "k"),
            (.column("count") > Int64(9_007_199_254_740_992), "h j"))
        filters(
            "query.integer.limits", "The minimum and the maximum integer are found.",
            (.column("count") == Int64.min, "i"),
            (.column("count") == Int64.max, "h"), (.column("count") > Int64.min, "a b c d g h j k l"),
            (.column("count") >= Int64.max, "h"))
        filters(
            "query.number.mixed", "An integer equals the double of the same value, on either side.",
            (.column("count") == 2.0, "b"), (.column("ratio") == 1, "a"), (.column("count") < 0.5, "d g i"))
        filters(
            "query.number.mixed-exact", "An integer and a double compare by value, not after conversion.",
            (.column("count") == 9_007_199_254_740_992.0, "k"),
            (.column("count") > 9_007_199_254_740_992.0, "h j"),
            (.column("count") == 9_223_372_036_854_775_808.0, ""),
            (.column("count") < 9.3e18, "a b c d g h i j k l"),
            (.column("count") >= -9.3e18, "a b c d g h i j k l"))
        filters(
            "query.double", "Doubles compare to the last bit.", (.column("ratio") == 0.1, "i"),
            (.column("ratio") == 0.3, ""))
        filters(
            "query.double.small", "The smallest positive double is greater than zero.",
            (.column("ratio") == Double.leastNonzeroMagnitude, "l"),
            (.column("ratio") > 0.0, "a b g i j k l n"), (.column("ratio") < 0.1, "c d h l m o"))
        filters(
            "query.double.zero", "Zero and negative zero are equal in filters.",
            (.column("ratio") == 0.0, "c d"),
            (.column("ratio") == -0.0, "c d"), (.column("ratio") < 0.0, "h m o"))
        filters(
            "query.bool", "Booleans are found by value.", (.column("flag") == true, "a c"),
            (.column("flag") == false, "b d"))
        filters(
            "query.bool.order", "False comes before true.", (.column("flag") < true, "b d"),
            (.column("flag") >= false, "a b c d"),
            (.column("flag") > true, ""))
        filters(
            "query.text.bytes", "Strings are equal only byte for byte.", (.column("label") == "\u{e9}", "g"),
            (.column("label") == "e\u{301}", "h"), (.column("label") != "\u{e9}", "a b c d h i j k l m n o p")
        )
        filters(
            "query.text.case", "String comparison is case-sensitive.", (.column("label") == "apple", "a"),
            (.column("label") == "APPLE", "p"), (.column("label") == "Apple", ""))
        filters(
            "query.text.space", "String comparison includes white space.",
            (.column("label") == " apple\n", "k"),
            (.column("label") == "cherry ", ""))
        filters(
            "query.text.nul", "A string does not end at NUL.", (.column("label") == "a\0b", "l"),
            (.column("label") == "a", ""),
            (.column("label") == "a\0", ""))
        filters(
            "query.text.empty", "The empty string is a value.", (.column("label") == "", "d"),
            (.column("label") <= "", "d"))
        filters(
            "query.text.order", "Strings are ordered by their bytes, not by language or numeric value.",
            (.column("label") < "a", "b d i j k o p"), (.column("label") >= "a", "a c g h l m n"),
            (.column("label") < "9", "d i k o"))
        filters(
            "query.text.order-utf8", "Characters above U+FFFF sort after all others.",
            (.column("label") > "\u{FFFD}", "n"), (.column("label") >= "\u{FFFD}", "m n"))
        filters(
            "query.date.instant",
            "Dates of the same instant are equal, whatever their number of digits.",
            (.column("due") == Fixture.timestamp("2020-01-01T00:00:00.0000000Z"), "a b"),
            (.column("due") != Fixture.timestamp("2020-01-01T00:00:00Z"), "c d"))
        filters(
            "query.date.order", "Dates are ordered by time, also before 1970.",
            (.column("due") < Timestamp.unixEpoch, "d"), (.column("due") >= Timestamp.unixEpoch, "a b c"))
        filters(
            "query.date.digits", "Dates compare to the nanosecond.",
            (.column("due") > Fixture.timestamp("2020-06-15T12:30:45.122999999Z"), "c"),
            (.column("due") >= Fixture.timestamp("2020-06-15T12:30:45.123Z"), "c"),
            (.column("due") > Fixture.timestamp("2020-06-15T12:30:45.123Z"), ""),
            (.column("due") == Fixture.timestamp("2020-06-15T12:30:45Z"), ""))
        filters(
            "query.data", "Binary data compares byte by byte.", (.column("blob") == Data([1]), "a"),
            (.column("blob") == Data(), "c"),
            (.column("blob") > Data([1]), "b d"), (.column("blob") < Data([1, 2]), "a c"))
        filters(
            "query.columns", "Two columns can be compared.",
            (.column("count") < FilterExpression.column("ratio"), "b g i"),
            (.column("count") == FilterExpression.column("ratio"), "a d"))
        filters(
            "query.id", "The id compares like a string.", (.column("id") == "c", "c"),
            (.column("id") > "n", "o p"),
            (.isIn(.column("id"), ["p", "zz", "a"]), "a p"),
            (.column("id") == "c" && .column("count") == 1, ""))
        filters(
            "query.system", "System properties can be compared.", (.column("version") == "v1", "a"),
            (.column("updatedAt") > Fixture.timestamp("2021-01-01T00:00:00Z"), "b"),
            (.isNull(.column("version")) && .column("flag") == true, "c"), (.column("deleted") == true, ""))
        filters(
            "query.indexed", "A query on an indexed column has the same result as on any other.",
            (.column("mark") == "x", "a c g"),
            (.column("mark") > "x", "b d"), (.column("mark") == "X", ""),
            (.isNull(.column("mark")) && .column("count") < 0, "i"))
    }

    /// Nulls in filters.
    @RuleList static var nulls: [StoreRule] {
        filters(
            "query.null.test", "A null test matches null and missing fields.",
            (.isNull(.column("count")), "e f m n o p"),
            (.isNull(.column("mark")), "e f h i j k l m n o p"))
        filters(
            "query.null.literal",
            "Equal to the constant null is a null test; not equal to it is the opposite.",
            (.column("count") == Int64?.none, "e f m n o p"),
            (.column("count") != Int64?.none, "a b c d g h i j k l"))
        filters(
            "query.null.order", "No value is less or greater than null.",
            (.column("count") < Int64?.none, ""),
            (.column("count") >= Int64?.none, ""), (!(.column("count") > Int64?.none), ""))
        filters(
            "query.null.not", "The negation of unknown is unknown: nulls match neither.",
            (!(.column("count") == 10), "a b d g h i j k l"), (!(.column("flag") == true), "b d"),
            (!(.column("flag") != true), "a c"))
        filters(
            "query.null.left", "Null on the left side is not a null test.",
            (.comparison(.equal, .constant(.null), .column("count")), ""))
        filters(
            "query.null.json", "JSON columns can be tested for null.", (!.isNull(.column("extra")), "a"),
            (.isNull(.column("extra")) && .column("flag") == true, "c"))
        filters(
            "query.null.system", "Absent system properties are null.",
            (!.isNull(.column("updatedAt")), "a b"), (!.isNull(.column("createdAt")), ""))
        filters(
            "query.in", "Membership matches the values of the list.",
            (.isIn(.column("count"), [1, 10, 99]), "a c"),
            (.isIn(.column("label"), ["apple", "\u{e9}"]), "a g"), (.isIn(.column("flag"), [true]), "a c"))
        filters(
            "query.in.empty", "No value is in an empty list; every value is not in it.",
            (.isIn(.column("count"), [Int]()), ""),
            (!.isIn(.column("count"), [Int]()), "a b c d e f g h i j k l m n o p"))
        filters(
            "query.in.null", "A null in the list matches nothing and makes 'not in' unknown.",
            (.membership(.column("count"), [1, nil]), "a"), (!.membership(.column("count"), [1, nil]), ""))
        filters(
            "query.in.not", "Not in matches other values, but not null.",
            (!.isIn(.column("count"), [1]), "b c d g h i j k l"))
        filters(
            "query.in.equality",
            "Membership uses equality: numbers by value, dates by instant, strings by bytes.",
            (.membership(.column("ratio"), [1, 2.5, 0]), "a b c d"), (.isIn(.column("count"), [2.0]), "b"),
            (.isIn(.column("due"), [Fixture.timestamp("2020-01-01T00:00:00.0Z")]), "a b"),
            (.isIn(.column("label"), ["APPLE", "e\u{301}"]), "h p"))
        filters(
            "query.in.many", "A list may have more values than an SQL statement supports parameters.",
            (.isIn(.column("count"), Array(0..<1200)), "a b c d l"),
            (.isIn(.column("count"), Array(1...40_000)), "a b c l"))
    }
}
