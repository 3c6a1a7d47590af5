// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The text of a statement, told apart from others by its identity, so that finding the statement again takes no
/// longer for a longer text. It binds all its values each time.
final class SQLText: Sendable {
    let text: String

    init(_ text: String) { self.text = text }
}

/// The statements that one transaction has used so far.
final class PreparedStatements {
    /// With the texts, so that no other text can come to have the identity of one of them.
    private var statements: [ObjectIdentifier: (text: SQLText, statement: SQLStatement)] = [:]

    subscript(text: SQLText) -> SQLStatement? {
        get { statements[ObjectIdentifier(text)]?.statement }
        set { statements[ObjectIdentifier(text)] = newValue.map { (text, $0) } }
    }
}
