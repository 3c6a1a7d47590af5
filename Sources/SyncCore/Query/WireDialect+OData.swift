// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension WireDialect {
    /// Returns the name of a column on the wire.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/filterNotSupported`` when it is not a letter or underscore
    ///   followed by letters, digits and underscores, or when it is a literal or an operator of OData: such a name could
    ///   change the meaning of the query.
    func propertyName(of column: String) throws(SyncError) -> String {
        guard column.isIdentifier else {
            throw SyncError(
                .filterNotSupported, "'\(column)' is not a valid name of a column in a query for the server.")
        }
        guard !Self.reservedWords.contains(column.lowercased()) else {
            throw SyncError(
                .filterNotSupported,
                "The column '\(column)' cannot be used in a query for the server, because OData reads this name as a "
                    + "literal or an operator. Queries of the local table can use it.")
        }
        return systemNames.name(of: column)
    }

    /// Words that OData parsers may read as a literal or an operator; some parsers ignore case.
    private static let reservedWords: Set<String> = [
        "null", "true", "false", "nan", "inf", "infinity", "not", "and", "or",
        "eq", "ne", "gt", "ge", "lt", "le", "add", "sub", "mul", "div", "mod", "in", "has",
    ]

    /// Returns a constant in OData syntax.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/filterNotSupported`` for values without OData syntax.
    func literal(_ value: ItemValue) throws(SyncError) -> String {
        switch value {
        case .null: return "null"
        case .bool(let bool): return bool ? "true" : "false"
        case .int(let int): return Int32(exactly: int) == nil ? "\(int)\(longSuffix)" : "\(int)"
        case .double(let double) where double.isFinite: return double.description
        case .text(let text): return quoted(text)
        case .date(let date): return dateLiteral.prefix + date.description + dateLiteral.suffix
        case .double:
            throw SyncError(.filterNotSupported, "A query for the server cannot contain NaN or an infinity.")
        case .data, .array, .object:
            throw SyncError(
                .filterNotSupported, "A query for the server cannot contain binary data, lists or objects.")
        }
    }

    /// Processes scalars, because a quote followed by a combining mark is one character that is not a quote.
    private func quoted(_ text: String) -> String {
        var literal = String.UnicodeScalarView("'".unicodeScalars)
        for scalar in text.unicodeScalars {
            literal.append(scalar)
            if scalar == "'" { literal.append(scalar) }
        }
        literal.append("'")
        return String(literal)
    }
}
