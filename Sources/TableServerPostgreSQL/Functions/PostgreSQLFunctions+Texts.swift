// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import TableServer

extension PostgreSQLFunctions {
    /// Functions of texts; null if an argument is not a text. The codes of StoredText count as one character.
    static let texts =
        [
            ("startswith", "", "odata_bool(starts_with(a, b))"),
            ("endswith", "", "odata_bool(right(a, length(b)) = b)"),
            ("substringof", limited("a"), "odata_bool(strpos(b, a) > 0)"),
            ("contains", limited("b"), "odata_bool(strpos(a, b) > 0)"),
            (
                "indexof", limited("b"),
                "'i' || coalesce(length(\(counted("left(a, nullif(strpos(a, b), 0) - 1)"))), -1)"
            ),
            ("concat", limitedConcatenation, "'t' || a || b"),
        ].map { name, limit, expression in
            PostgreSQLFunction(
                "odata_\(name)(x text, y text) RETURNS text",
                body: """
                    DECLARE
                        a text COLLATE "C" := substr(x, 2);
                        b text COLLATE "C" := substr(y, 2);
                    BEGIN
                        IF left(x, 1) IS DISTINCT FROM 't' OR left(y, 1) IS DISTINCT FROM 't' THEN RETURN NULL; END IF;
                        \(limit)
                        RETURN \(expression);
                    END
                    """)
        } + [
            PostgreSQLFunction(
                "odata_length(value text) RETURNS text",
                expression: "CASE WHEN left(value, 1) = 't' THEN 'i' || length(\(counted("value"))) - 1 END"),
            PostgreSQLFunction(
                "odata_trim(value text) RETURNS text",
                expression:
                    "CASE WHEN left(value, 1) = 't' THEN 't' || btrim(substr(value, 2), \(whitespace)) END"),
        ]

    /// The statement that refuses a search for a longer text than the limit.
    private static func limited(_ pattern: String) -> String {
        let limit = SubstringSearch.maxPatternLength
        return """
            IF length(\(pattern)) > \(limit) AND length(\(counted(pattern))) > \(limit) THEN
                RAISE EXCEPTION 'pattern too long' USING ERRCODE = '\(patternTooLong)';
            END IF;
            """
    }

    /// The SQLSTATE of a search for a longer text than the limit. No error of PostgreSQL has this class.
    static let patternTooLong = "TS001"

    /// The statement that refuses to compute a longer text than the limit. The codes of StoredText count as the characters
    /// that they stand for. Decoding them takes time, so the stored lengths are compared first.
    private static let limitedConcatenation = """
        IF octet_length(a) + octet_length(b) > \(ComputedText.maxByteCount)
            AND octet_length(odata_bytes(a)) + octet_length(odata_bytes(b)) > \(ComputedText.maxByteCount)
        THEN
            RAISE EXCEPTION 'text too long' USING ERRCODE = '\(computedTextTooLong)';
        END IF;
        """

    /// The SQLSTATE of a call that would compute a longer text than the limit.
    static let computedTextTooLong = "TS002"

    /// The text with one character for each code.
    private static func counted(_ text: String) -> String {
        #"replace(replace(\#(text), U&'\FDD1', ''), U&'\FDD2', '')"#
    }

    /// The characters with the Unicode property White_Space.
    private static let whitespace = #"""
        U&'\0009\000A\000B\000C\000D\0020\0085\00A0\1680\2000\2001\2002\2003\2004\2005\2006\2007\2008\2009\200A'
            || U&'\2028\2029\202F\205F\3000'
        """#

    /// The databases's own functions depend on its locale and version. These have the mappings of this program: ASCII letters
    /// first, and other characters only in texts that have them.
    static var caseMappings: [PostgreSQLFunction] {
        [
            caseMapping("tolower", ascii: "lower") { $0.properties.lowercaseMapping },
            caseMapping("toupper", ascii: "upper") { $0.properties.uppercaseMapping },
        ]
    }

    private static func caseMapping(
        _ name: String, ascii: String, _ mapping: (Unicode.Scalar) -> String
    ) -> PostgreSQLFunction {
        var (from, to, replacements, expanding) = ("", "", "", "")
        // No character after the first two planes has a case.
        for scalar in (0x80...0x1FFFF as ClosedRange<UInt32>).compactMap(Unicode.Scalar.init) {
            let mapped = mapping(scalar)
            let scalars = mapped.unicodeScalars
            if scalars.count == 1, scalars.first != scalar {
                from.unicodeScalars.append(scalar)
                to += mapped
            } else if scalars.count > 1 {
                expanding.unicodeScalars.append(scalar)
                replacements += "        content := replace(content, '\(scalar)', '\(mapped)');\n"
            }
        }
        return PostgreSQLFunction(
            "odata_\(name)(value text) RETURNS text",
            body: """
                DECLARE
                    content text COLLATE "C" := \(ascii)(substr(value, 2) COLLATE "C");
                BEGIN
                    IF left(value, 1) IS DISTINCT FROM 't' THEN RETURN NULL; END IF;
                    IF octet_length(content) = length(content) THEN RETURN 't' || content; END IF;
                    IF content ~ '[\(expanding)]' THEN
                \(replacements)    END IF;
                    RETURN 't' || translate(content, '\(from)', '\(to)');
                END
                """)
    }
}
