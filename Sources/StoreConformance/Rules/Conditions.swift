// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

extension StoreRule {
    /// Text tests: prefix, suffix, contains.
    @RuleList static var textTests: [StoreRule] {
        filters(
            "query.prefix", "Has prefix compares the beginning.", (.hasPrefix(.column("label"), "ap"), "a"),
            (.hasPrefix(.column("label"), "10"), "i o"), (.hasPrefix(.column("label"), "apples"), ""))
        filters(
            "query.suffix", "Has suffix compares the end.", (.hasSuffix(.column("label"), "le"), "a"),
            (.hasSuffix(.column("label"), "y"), "c"), (.hasSuffix(.column("label"), "ple\n"), "k"))
        filters(
            "query.contains", "Contains searches the whole string.", (.contains(.column("label"), "an"), "b"),
            (.contains(.column("label"), "e"), "a c h k"), (.contains(.column("label"), "ppl"), "a k"))
        filters(
            "query.part.empty", "The empty string is part of every string, but not of null.",
            (.contains(.column("label"), ""), "a b c d g h i j k l m n o p"),
            (.hasPrefix(.column("label"), ""), "a b c d g h i j k l m n o p"),
            (.hasSuffix(.column("label"), ""), "a b c d g h i j k l m n o p"))
        filters(
            "query.part.case", "Text tests are case-sensitive.", (.hasPrefix(.column("label"), "AP"), "p"),
            (.contains(.column("label"), "A"), "p"), (.hasSuffix(.column("label"), "E"), "p"))
        filters(
            "query.part.wildcards", "Wildcard characters are literal.",
            (.contains(.column("label"), "%"), "o"), (.contains(.column("label"), "_"), "o"),
            (.contains(.column("label"), "*"), "o"),
            (.hasPrefix(.column("label"), "1%"), ""), (.hasPrefix(.column("label"), "?"), ""),
            (.contains(.column("label"), "0%_"), "o"))
        filters(
            "query.part.quotes", "Quotation marks are literal.", (.contains(.column("label"), "'"), "o"),
            (.contains(.column("label"), "\""), "o"), (.hasSuffix(.column("label"), "'\"*"), "o"))
        filters(
            "query.part.nul", "Text tests include NUL and the characters after it.",
            (.contains(.column("label"), "\0"), "l"),
            (.hasPrefix(.column("label"), "a\0"), "l"), (.hasSuffix(.column("label"), "\0b"), "l"),
            (.hasPrefix(.column("label"), "a"), "a l"))
        filters(
            "query.part.bytes",
            "Text tests compare bytes: a letter with a combining accent contains the letter.",
            (.hasPrefix(.column("label"), "e"), "h"), (.hasPrefix(.column("label"), "\u{e9}"), "g"),
            (.hasSuffix(.column("label"), "\u{301}"), "h"), (.contains(.column("label"), "\u{1F600}"), "n"))
        filters(
            "query.part.not", "A negated text test does not match null.",
            (!.contains(.column("label"), "a"), "c d g h i j m n o p"))
        filters(
            "query.part.column", "The searched string may be a column.",
            (.text(.hasPrefix, .column("label"), .column("id")), "a c"))
        filters(
            "query.part.computed", "Text tests work on computed strings.",
            (.hasPrefix(FilterExpression.lowercased(.column("label")), "app"), "a p"),
            (.contains(FilterExpression.trimmed(.column("label")), "\n"), ""))
    }

    /// Logical operators in filters.
    @RuleList static var logic: [StoreRule] {
        filters(
            "query.and", "And requires both conditions.",
            (.column("flag") == true && .column("count") > 1, "c"))
        filters(
            "query.or", "Or requires one condition.",
            (.column("flag") == true || .column("count") == 0, "a c d"))
        filters(
            "query.and.unknown", "False and unknown is false; true and unknown is unknown.",
            (!(.column("flag") == true && .column("count") == 10), "a b d g h i j k l"),
            (.column("flag") == true && .column("mark") == "x", "a c"))
        filters(
            "query.or.unknown", "True or unknown is true; false or unknown is unknown.",
            (.column("flag") == true || .column("count") > 50, "a c h j k l"),
            (!(.column("flag") == true || .column("count") == 10), "b d"))
        filters(
            "query.all-of-none", "All of no conditions is true; any of no conditions is false.",
            (.all([]), "a b c d e f g h i j k l m n o p"), (.any([]), ""),
            (!.any([]), "a b c d e f g h i j k l m n o p"))
        filters(
            "query.always", "The constant true matches every item, the constant false none.",
            (.always(true), "a b c d e f g h i j k l m n o p"), (.always(false), ""),
            (.always(false) || .column("count") == 1, "a"), (!.always(true), ""))
        filters(
            "query.not-not", "A double negation is the condition itself.",
            (!(!(.column("flag") == true)), "a c"))
        filters(
            "query.nested", "Conditions nest.",
            (
                (.column("flag") == true || .column("flag") == false)
                    && !(.column("count") == 2 || .column("count") == 10), "a d"
            ),
            (
                (.column("mark") == "x" && .column("count") > 0)
                    || (.column("mark") == "y" && .column("count") == 0), "a c d"
            ))
        filters(
            "query.wide", "A filter may have 1500 operands.",
            (.any((0..<1500).map { .column("count") == $0 }), "a b c d l"),
            (.all((0..<1500).map { .column("count") != $0 }), "g h i j k"), level: .full)
        filters(
            "query.deep", "A filter may have 900 levels.",
            ((0..<900).reduce(.column("flag") == true) { filter, _ in .not(filter) }, "a c"),
            ((0..<900).reduce(.column("flag") == true) { filter, _ in .all([filter]) }, "a c"), level: .full)
    }

    /// Functions in filters.
    @RuleList static var functions: [StoreRule] {
        filters(
            "query.lowercase", "Lowercasing uses Unicode rules.",
            (FilterExpression.lowercased(.column("label")) == "apple", "a p"),
            (FilterExpression.lowercased(.column("label")) == "banana", "b"))
        filters(
            "query.uppercase", "Uppercasing uses Unicode rules, also beyond ASCII.",
            (FilterExpression.uppercased(.column("label")) == "APPLE", "a p"),
            (FilterExpression.uppercased(.column("label")) == "\u{c9}", "g"))
        filters(
            "query.trim", "Trim removes white space and line breaks.",
            (FilterExpression.trimmed(.column("label")) == "apple", "a k"))
        filters(
            "query.concat", "Concat joins strings; with a null operand it is null.",
            (FilterExpression.call(.concat, [.column("label"), .column("mark")]) == "applex", "a"),
            (
                .isNull(FilterExpression.call(.concat, [.column("label"), .column("mark")]))
                    && .column("count") > 0,
                "h j k l"
            ))
        filters(
            "query.length", "Length counts Unicode scalars.",
            (FilterExpression.length(.column("label")) == 1, "g j m n"),
            (FilterExpression.length(.column("label")) == 2, "h i"),
            (FilterExpression.length(.column("label")) == 3, "l"),
            (FilterExpression.length(.column("label")) == 0, "d"))
        filters(
            "query.indexof", "Indexof counts Unicode scalars from 0; it is -1 when not found.",
            (FilterExpression.call(.indexof, [.column("label"), .constant("a")]) == 0, "a l"),
            (FilterExpression.call(.indexof, [.column("label"), .constant("p")]) == 2, "k"),
            (
                FilterExpression.call(.indexof, [.column("label"), .constant("a")]) == -1,
                "c d g h i j m n o p"
            ),
            (
                FilterExpression.call(
                    .indexof,
                    [.call(.concat, [.constant("\u{1F600}"), .column("label")]), .constant("apple")]) == 1,
                "a"
            ))
        filters(
            "query.date.parts", "Date parts are in UTC.",
            (FilterExpression.year(.column("due")) == 2020, "a b c"),
            (FilterExpression.call(.month, [.column("due")]) == 6, "c"),
            (FilterExpression.call(.day, [.column("due")]) == 15, "c"),
            (FilterExpression.call(.hour, [.column("due")]) == 12, "c"),
            (FilterExpression.call(.minute, [.column("due")]) == 30, "c"),
            (FilterExpression.call(.second, [.column("due")]) == 45, "c"))
        filters(
            "query.date.parts-before-1970", "Date parts are correct before 1970.",
            (FilterExpression.year(.column("due")) == 1969, "d"),
            (FilterExpression.call(.day, [.column("due")]) == 31, "d"),
            (FilterExpression.call(.hour, [.column("due")]) == 23, "d"),
            (FilterExpression.call(.second, [.column("due")]) == 58, "d"))
        filters(
            "query.round", "Round returns the nearest integer, and rounds halves away from zero.",
            (FilterExpression.call(.round, [.column("ratio")]) == 3.0, "b"),
            (FilterExpression.call(.round, [.column("ratio")]) == -3.0, "m"),
            (FilterExpression.call(.round, [.column("ratio")]) == 2.0, "n"))
        filters(
            "query.floor", "Floor rounds down, also below zero; integers stay exact.",
            (FilterExpression.call(.floor, [.column("ratio")]) == 2.0, "b"),
            (FilterExpression.call(.floor, [.column("ratio")]) == -3.0, "m"),
            (FilterExpression.call(.floor, [.column("count")]) == Int64(9_007_199_254_740_993), "j"))
        filters(
            "query.ceiling", "Ceiling rounds up.",
            (FilterExpression.call(.ceiling, [.column("ratio")]) == 1.0, "a i k l"),
            (FilterExpression.call(.ceiling, [.column("ratio")]) == -2.0, "m"))
        filters(
            "query.function.null", "A function of null is null.",
            (FilterExpression.lowercased(.column("label")) != "x", "a b c d g h i j k l m n o p"),
            (.isNull(FilterExpression.length(.column("label"))), "e f"),
            (.isNull(FilterExpression.year(.column("due"))) && .column("count") < 0, "g i"))
    }

    /// Arithmetic in filters.
    @RuleList static var arithmetic: [StoreRule] {
        filters(
            "query.add", "Sums and differences of integers are integers.",
            (FilterExpression.column("count") + 1 == 2, "a"),
            (FilterExpression.column("count") + 1 == Int64(9_007_199_254_740_993), "k"),
            (FilterExpression.column("count") - 1 == Int64(9_007_199_254_740_992), "j"))
        filters(
            "query.multiply", "Multiplication works for integers and doubles.",
            (FilterExpression.column("count") * 2 == 4, "b"),
            (FilterExpression.column("ratio") * 2 == 5.0, "b"),
            (FilterExpression.column("count") + 0.5 == 2.5, "b"))
        filters(
            "query.divide", "Integer division truncates toward zero; division with a double does not.",
            (FilterExpression.column("count") / 3 == 3, "c"),
            (FilterExpression.column("count") / 2 == 0, "a d g"),
            (FilterExpression.column("count") / 2.0 == 0.5, "a"))
        filters(
            "query.remainder", "A remainder has the sign of the dividend.",
            (FilterExpression.column("count") % 3 == 1, "a c h l"),
            (FilterExpression.column("count") % 3 == -1, "g"),
            (FilterExpression.column("count") % 3 == -2, "i"))
        filters(
            "query.divide.zero", "Division by zero is null.",
            (.isNull(FilterExpression.column("count") / 0), "a b c d e f g h i j k l m n o p"),
            (FilterExpression.column("count") % 0 == 0, ""),
            (.isNull(FilterExpression.column("ratio") / 0.0) && .column("count") == 1, "a"))
        filters(
            "query.overflow", "A result beyond 64 bits becomes a double and does not wrap.",
            (FilterExpression.column("count") + 1 > 9.2e18, "h"),
            (FilterExpression.column("count") - 1 < -9.2e18, "i"),
            (FilterExpression.column("count") * 2 > 1.8e19, "h"))
        filters(
            "query.overflow.divide", "The minimum integer divided by -1 becomes a double and does not trap.",
            (FilterExpression.column("count") / -1 > 9.2e18, "i"),
            (FilterExpression.column("count") % -1 == 0, "a b c d g h i j k l"))
        filters(
            "query.arithmetic.null", "Arithmetic with null is null.",
            (.isNull(FilterExpression.column("count") + 1), "e f m n o p"))
    }
}
