// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import GRDB
import Synchronization

/// The statements of lists that connections keep compiled. Filters have any number of forms and lengths, and a statement for
/// each would use memory without bounds.
final class KeptStatements: Sendable {
    /// The texts of the statements that each connection keeps.
    private let texts = Mutex<[ObjectIdentifier: Set<String>]>([:])
    private static let maxCount = 100

    /// Returns the statement of a text. A connection that keeps too many begins again, so that statements of the past do not
    /// keep out those in use.
    func statement(_ text: String, on database: Database) throws -> Statement {
        guard text.isShortStatement else { return try database.makeStatement(sql: text) }
        let isFull = texts.withLock { texts in
            var kept = texts[ObjectIdentifier(database)] ?? []
            let isFull = kept.count >= Self.maxCount && !kept.contains(text)
            if isFull { kept = [] }
            kept.insert(text)
            texts[ObjectIdentifier(database)] = kept
            return isFull
        }
        // It also clears the cache of statements.
        if isFull { database.clearSchemaCache() }
        return try database.cachedStatement(sql: text)
    }
}

extension String {
    /// Whether a connection may keep the statement of this text: its memory is a multiple of the text's length.
    package var isShortStatement: Bool { utf8.count <= 4096 }
}
