// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A string that has caused bugs in stores, and where it is valid.
struct CorpusText: Sendable {
    /// A description, with the project that had the bug.
    let name: String
    let text: String
    /// Whether it is a valid item id. Invalid ids are refused with `invalidItemID` before a store receives them.
    let isID: Bool
    /// Whether it is a valid name of a table or column. Invalid names are refused with `invalidTableDefinition`.
    let isName: Bool

    private init(_ name: String, _ text: String, isID: Bool = true, isName: Bool = false) {
        self.name = name
        self.text = text
        self.isID = isID
        self.isName = isName
    }

    static let all: [CorpusText] =
        plain + whiteSpace + control + unicode + normalForms + syntax + numbers + keywords + lengths

    private static func name(_ name: String, _ text: String) -> CorpusText {
        CorpusText(name, text, isName: true)
    }

    private static func noID(_ name: String, _ text: String) -> CorpusText {
        CorpusText(name, text, isID: false)
    }

    private static let plain = [
        name("a letter", "x"), name("a capital", "X"), name("an underscore", "_"), name("mixed", "Ab_9"),
        noID("the empty text (pouchdb 8090)", ""), noID("a dot", "."), noID("two dots", ".."),
        CorpusText("three dots", "..."), CorpusText("a leading dot", ".hidden"),
        CorpusText("a hyphen", "a-b"),
        CorpusText("a colon", "a:b"), CorpusText("a UUID", "0190B5C0-7C4D-7CC3-98C4-DC0C0C07398F"),
        CorpusText("a UUID in lower case", "0190b5c0-7c4d-7cc3-98c4-dc0c0c07398f"),
    ]

    private static let whiteSpace = [
        CorpusText("a space", " "), CorpusText("a leading space", " a"), CorpusText("a trailing space", "a "),
        CorpusText("a no-break space", "\u{a0}"), CorpusText("an ideographic space", "\u{3000}"),
        noID("a tab", "\t"), noID("a line end", "a\n"), noID("a carriage return", "\r\n"),
        noID("white space all round (abstract-leveldown)", " x \n"),
    ]

    private static let control = [
        noID("NUL (rusqlite 651)", "\0"), noID("NUL inside (sqlite-data 525)", "a\0b"),
        noID("NUL at the end", "a\0"), noID("NUL at the beginning", "\0a"), noID("two NULs", "\0\0"),
        noID("the first control characters", "\u{1}\u{2}\u{3}\u{4}\u{5}\u{6}\u{7}"),
        noID("backspace and escape", "\u{8}\u{1b}[31m"), noID("delete", "\u{7f}"),
        noID("a C1 control", "\u{85}"),
        noID("the greatest C1 control", "\u{9f}"),
    ]

    private static let unicode = [
        CorpusText("a line separator (pouchdb 5618)", "\u{2028}"),
        CorpusText("a paragraph separator", "\u{2029}"),
        CorpusText("notes", "\u{266a}\u{266b}"),
        CorpusText("Japanese and signs", "\u{3068}\u{3046})\u{4eac}(\u{304d}"),
        CorpusText("an emoji", "\u{1F4A9}"), CorpusText("a flag", "\u{1F1F5}\u{1F1F2}"),
        CorpusText("a joined emoji", "\u{1F3F3}\u{FE0F}\u{200D}\u{1F308}"),
        CorpusText("a family", "\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}"),
        CorpusText("private use", "\u{F8FF}"), CorpusText("a rare ideograph (FDB)", "\u{2A2B2}"),
        CorpusText("Hebrew", "\u{5e9}\u{5dc}\u{5d5}\u{5dd}"), CorpusText("Arabic", "\u{627}\u{644}\u{645}"),
        CorpusText("right-to-left override", "a\u{202E}b"), CorpusText("zero width space", "\u{200B}"),
        CorpusText("a byte order mark", "\u{FEFF}"), CorpusText("the replacement character", "\u{FFFD}"),
        CorpusText("a noncharacter", "\u{FFFF}"), CorpusText("the last scalar", "\u{10FFFF}"),
        CorpusText("the first beyond the BMP", "\u{10000}"),
        CorpusText("the last of the BMP's letters", "\u{FFDC}"),
        CorpusText("before the surrogates", "\u{D7FF}"), CorpusText("after the surrogates", "\u{E000}"),
        CorpusText("a soft hyphen", "a\u{ad}b"), CorpusText("a variation selector", "a\u{FE0F}"),
        CorpusText("a dotted capital I", "\u{130}"), CorpusText("a dotless i", "\u{131}"),
        CorpusText("sharp s", "\u{df}"), CorpusText("capital sharp s", "\u{1e9e}"),
        CorpusText("final sigma", "\u{3c2}"),
        CorpusText("a ligature", "\u{fb01}"), CorpusText("full-width letters", "\u{ff21}\u{ff22}"),
        CorpusText("Thai", "\u{e01}\u{e33}"), CorpusText("Devanagari", "\u{915}\u{94d}\u{937}"),
        CorpusText("Hangul", "\u{d55c}\u{ae00}"), CorpusText("one byte from 0x7f", "~"),
    ]

    private static let normalForms = [
        CorpusText("an accent, composed", "\u{e9}"), CorpusText("an accent, apart", "e\u{301}"),
        CorpusText("two accents in one order", "a\u{323}\u{307}"),
        CorpusText("and in the other", "a\u{307}\u{323}"),
        CorpusText("the sign Angstrom", "\u{212b}"), CorpusText("A with ring", "\u{c5}"),
        CorpusText("A and ring", "A\u{30a}"), CorpusText("the sign Kelvin", "\u{212a}"), name("K", "K"),
        CorpusText("the sign Ohm", "\u{2126}"), CorpusText("omega", "\u{3a9}"),
        CorpusText("a Hangul syllable in letters", "\u{1112}\u{1161}\u{11ab}"),
        CorpusText("the syllable", "\u{d55c}"),
        noID("a Greek question mark before a slash", "\u{37e}/"),
        CorpusText("a Greek question mark", "\u{37e}"),
        CorpusText("an accent alone", "\u{301}"),
        CorpusText("a letter with five accents", "a\u{301}\u{302}\u{303}\u{304}\u{305}"),
    ]

    private static let syntax = [
        CorpusText("an apostrophe", "'"), CorpusText("an apostrophe inside", "O'Brien"),
        noID("a quote", "\""),
        noID("a backquote", "`"), noID("a backslash", "\\"), noID("a slash", "/"),
        noID("a path", "../foo/../bar"),
        noID("a path with empty parts (go-cloud)", "foo//bar///baz"), noID("a path of Windows", "..\\foo"),
        noID("a question mark", "?"), noID("a hash", "#"), noID("a plus", "+"),
        CorpusText("a percent sign", "%"),
        CorpusText("an escape", "%48%45%4C"), CorpusText("a bad escape", "%Q"), CorpusText("a star", "*"),
        CorpusText("brackets", "[a]{b}(c)"), CorpusText("a semicolon", "a;b"), CorpusText("a comma", "a,b"),
        CorpusText("an SQL injection", "'; DROP TABLE Thing; --"), CorpusText("a comment", "-- "),
        CorpusText("a dollar", "$a"), CorpusText("an ampersand", "a&b=c"), CorpusText("signs", "!@^*()|~<>"),
        CorpusText("a tag of stored values", "$date"), noID("JSON", "{\"a\":[1]}"),
        CorpusText("a printf format", "%s%n%d"),
        CorpusText("a parameter", ":name @p $1"), noID("markup", "<a href=\"x\">&amp;</a>"),
    ]

    private static let numbers = [
        CorpusText("a digit", "1"), CorpusText("with a leading zero", "01"),
        CorpusText("with a point", "1.0"),
        CorpusText("with an exponent", "1e0"), CorpusText("negative", "-1"), CorpusText("hexadecimal", "0x1"),
        CorpusText("between 49 and 50 (abstract-leveldown 315)", "49.5"), CorpusText("nine", "9"),
        CorpusText("ten", "10"), CorpusText("a thousand", "1000"), CorpusText("two hundred", "200"),
        CorpusText("more than 64 bits", "18446744073709551616"), CorpusText("a date", "2014-05-30T18:30:00Z"),
    ]

    private static let keywords = [
        name("null as text", "null"), name("true as text", "true"), name("NaN as text", "NaN"),
        name("undefined", "undefined"), name("a word of SQL", "table"), name("another", "where"),
        name("a third", "primary"), name("an alias of SQLite's", "oid"),
        name("an object's field", "__proto__"),
        name("constructor", "constructor"),
    ]

    private static let lengths = [
        CorpusText("255 letters", String(repeating: "a", count: 255)),
        noID("256 letters", String(repeating: "a", count: 256)),
        noID("511 bytes (lmdbjava 26)", String(repeating: "b", count: 511)),
        noID("512 bytes", String(repeating: "b", count: 512)),
        CorpusText("255 emoji, 1020 bytes", String(repeating: "\u{1F600}", count: 255)),
        CorpusText("the same with another end", String(repeating: "\u{1F600}", count: 254) + "\u{1F601}"),
        CorpusText("254 emoji", String(repeating: "\u{1F600}", count: 254)),
        name("a name of 128 characters", String(repeating: "n", count: 128)),
        CorpusText("a name of 129 characters", String(repeating: "n", count: 129)),
        noID("4096 bytes", String(repeating: "page", count: 1024)),
        noID("65 537 bytes", String(repeating: "k", count: 65_537)),
    ]
}
