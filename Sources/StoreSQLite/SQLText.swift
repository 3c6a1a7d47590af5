// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The text of a statement with object identity, so that the lookup of the prepared statement does not hash the text.
/// Each use binds all parameters.
final class SQLText: Sendable {
    let text: String

    init(_ text: String) { self.text = text }
}

/// The statements that the current transaction has prepared.
final class PreparedStatements {
    /// Retains the texts, so that their identities stay unique.
    private var statements: [ObjectIdentifier: (text: SQLText, statement: SQLStatement)] = [:]

    subscript(text: SQLText) -> SQLStatement? {
        get { statements[ObjectIdentifier(text)]?.statement }
        set { statements[ObjectIdentifier(text)] = newValue.map { (text, $0) } }
    }
}
