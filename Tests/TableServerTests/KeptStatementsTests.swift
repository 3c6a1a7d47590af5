// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import GRDB
import Testing

@testable import TableServer

/// Which statements a connection to SQLite keeps.
struct KeptStatementsTests {
    /// Whether the connection keeps the statement of a text, also after it has run others.
    private func keeps(_ text: String, after others: [String] = []) throws -> Bool {
        let statements = KeptStatements()
        return try DatabaseQueue().write { database in
            for other in others { _ = try statements.statement(other, on: database) }
            let first = try statements.statement(text, on: database)
            return try first === statements.statement(text, on: database)
        }
    }

    @Test func `a short statement is kept, and a long one is not`() throws {
        #expect(try keeps("SELECT 1"))
        #expect(try !keeps("SELECT '\(String(repeating: "a", count: 5000))'"))
    }

    @Test func `statements of the past do not keep others out`() throws {
        #expect(try keeps("SELECT 'new'", after: (0..<250).map { "SELECT \($0)" }))
    }
}
