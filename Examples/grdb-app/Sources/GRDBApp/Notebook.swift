// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import StoreSQLite
import SyncModels

struct Note: SyncModel {
    var id = SyncID<Note>(), text = ""
    static let schema = ModelSchema("Note", Note(), .field("text", \.text))
}

/// Synced notes in the GRDB database of the app, beside a table that only the app uses.
struct Notebook: Sendable {
    let pool: DatabasePool
    let context: SyncContext

    init(path: String, url: URL) throws {
        pool = try DatabasePool(path: path)
        try pool.write { try $0.execute(sql: "CREATE TABLE IF NOT EXISTS draft (text TEXT NOT NULL)") }
        let store = try SQLiteStore(database: pool, tables: .models(Note.self))
        // On Linux, an app passes an `AsyncHTTPTransport`: see the article "Getting started".
        context = SyncContext(client: SyncClient(url: url), dataSource: store)
    }

    /// Adds a note, which the next push sends.
    func add(_ text: String) async throws {
        try await context.table(Note.self).insert(Note(text: text))
    }

    /// Searches with SQL, in the synced table and in the app's own.
    func search(_ text: String) async throws -> [String] {
        try await pool.read { database in
            try String.fetchAll(
                database,
                sql: """
                    SELECT text FROM Note WHERE instr(text, ?1)
                    UNION ALL SELECT text FROM draft WHERE instr(text, ?1) ORDER BY text
                    """,
                arguments: [text])
        }
    }

    /// Pushes and pulls.
    func sync() async throws { try await context.sync(Note.all.pull()) }
}
