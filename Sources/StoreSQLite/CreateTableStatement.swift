// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The parts of a `CREATE TABLE` statement as SQLite stores it.
///
/// `ALTER TABLE` changes the stored text: it adds columns behind the others, which is before the constraints of the table, and
/// drops and renames columns where they are.
struct CreateTableStatement {
    /// The text before the columns.
    private let head: Substring
    private let columns: [Column]
    /// The constraints of the table.
    private let constraints: [Substring]
    /// The text behind the columns and constraints.
    private let options: Substring

    private struct Column: Equatable {
        /// The name without quotes.
        let name: SQLName
        /// The type and the constraints.
        let definition: Substring
    }

    /// Returns `nil` if the text has no complete list of columns.
    init?(_ sql: String) {
        var rest = Substring(sql)
        while let token = rest.removeFirstToken(), token != "(" {}
        head = sql[..<rest.startIndex]
        var elements: [Substring] = []
        var (depth, start) = (1, rest.startIndex)
        while depth > 0 {
            guard let token = rest.removeFirstToken() else { return nil }
            if token == "(" { depth += 1 }
            if token == ")" { depth -= 1 }
            if depth == 0 || depth == 1 && token == "," {
                elements.append(sql[start..<token.startIndex].trimmed)
                start = rest.startIndex
            }
        }
        options = rest.trimmed
        let firstConstraint = elements.firstIndex(where: \.isTableConstraint) ?? elements.endIndex
        constraints = Array(elements[firstConstraint...])
        columns = elements[..<firstConstraint].map { element in
            var definition = element
            let name = definition.removeFirstToken() ?? ""
            return Column(name: SQLName(name.withoutQuotes), definition: definition)
        }
    }

    /// Whether a constraint has a conflict clause.
    static func hasConflictClause(_ sql: String) -> Bool {
        var (rest, previous) = (Substring(sql), "")
        while let token = rest.removeFirstToken()?.uppercased() {
            if previous == "ON", token == "CONFLICT" { return true }
            previous = token
        }
        return false
    }

    /// Whether `ALTER TABLE` can have made the other statement from this one, without dropping a column and adding it again:
    /// the columns that both have are in the same order, with the same definitions, before the added ones.
    func canBeAltered(to other: Self) -> Bool {
        guard head == other.head, options == other.options else { return false }
        let (names, otherNames) = (Set(columns.map(\.name)), Set(other.columns.map(\.name)))
        var remaining = other.columns[...]
        var hasRenamed = false
        for column in columns {
            guard let next = remaining.first else { break }
            if next == column {
                remaining.removeFirst()
            } else if otherNames.contains(column.name) {
                return false
            } else if next.definition == column.definition, !names.contains(next.name) {
                remaining.removeFirst()
                hasRenamed = true
            }
        }
        // A constraint may name a renamed column.
        return hasRenamed || constraints == other.constraints
    }
}

extension Substring {
    /// Whether the text begins with a keyword that no column can have as its name without quotes.
    fileprivate var isTableConstraint: Bool {
        var rest = self
        let first = rest.removeFirstToken() ?? ""
        return ["CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"].contains(first.uppercased())
    }

    /// The name without the quotes around it.
    fileprivate var withoutQuotes: Substring {
        guard let first = utf8.first, Self.closingQuote(of: first) != nil else { return self }
        return dropFirst().dropLast()
    }

    /// The text without whitespace at the end, which `ALTER TABLE` may leave or remove.
    fileprivate var trimmed: Substring {
        var text = self
        while text.last?.isWhitespace == true { text.removeLast() }
        return text
    }

    /// Removes the first token and what precedes it, whitespace and comments.
    ///
    /// - Returns: a quoted name or string, a word, or another character; `nil` if there is none.
    fileprivate mutating func removeFirstToken() -> Substring? {
        removeSpace()
        guard let first = utf8.first else { return nil }
        var rest = utf8.dropFirst()
        if let quote = Self.closingQuote(of: first) {
            // A doubled quote, which stands for one, ends a token here, and the next one begins with it.
            while let byte = rest.popFirst(), byte != quote {}
        } else if first.isInSQLWord {
            rest = rest.drop(while: \.isInSQLWord)
        }
        let token = self[..<rest.startIndex]
        self = Substring(rest)
        return token
    }

    private mutating func removeSpace() {
        while let first = utf8.first {
            if first == UInt8(ascii: " ") || (9...13).contains(first) {
                self = Substring(utf8.dropFirst())
            } else if utf8.starts(with: "--".utf8) {
                self = Substring(utf8.drop { $0 != UInt8(ascii: "\n") })
            } else if utf8.starts(with: "/*".utf8) {
                var rest = utf8.dropFirst(2)
                while !rest.isEmpty, !rest.starts(with: "*/".utf8) { rest.removeFirst() }
                self = Substring(rest.dropFirst(2))
            } else {
                return
            }
        }
    }

    private static func closingQuote(of first: UInt8) -> UInt8? {
        switch first {
        case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"): first
        case UInt8(ascii: "["): UInt8(ascii: "]")
        default: nil
        }
    }
}

extension UInt8 {
    /// Whether the byte can be in a name or a keyword without quotes.
    var isInSQLWord: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...:
            true
        default: false
        }
    }
}
