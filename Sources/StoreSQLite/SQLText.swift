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
    private var statements: [ObjectIdentifier: SQLStatement] = [:]

    subscript(text: SQLText) -> SQLStatement? {
        get { statements[ObjectIdentifier(text)] }
        set { statements[ObjectIdentifier(text)] = newValue }
    }
}
