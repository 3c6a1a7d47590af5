// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreSQLite
import SyncCore

/// The notes of one user, in a SQLite database.
public struct Notes: Sendable {
    private static let text = SyncColumn("text", .text)
    private static let isDone = SyncColumn("isDone", .bool)
    private static let definition = SyncTableDefinition("Note", columns: [text, isDone])

    private let context: SyncContext
    private var table: SyncTable { context.table("Note") }

    /// Opens the database at the path.
    public init(path: String, url: URL, token: String, transport: any HTTPTransport) throws {
        let client = SyncClient(url: url, transport: transport.intercepted(by: Authorization(token: token)))
        let store = try SQLiteStore(path: path, tables: [Self.definition])
        context = SyncContext(client: client, dataSource: store)
    }

    /// Adds a note and returns its id.
    public func add(_ text: String) async throws -> String {
        try await table.insert(["text": .text(text), "isDone": false]).id
    }

    /// Returns the texts of the notes that are not done.
    public func open() async throws -> [String] {
        let query = table.query.where(Self.isDone == false && Self.text != "").order(by: Self.text)
        return try await table.items(matching: query).items.compactMap { $0["text"]?.textValue }
    }

    /// Pushes local changes. Without a network they stay in the queue.
    ///
    /// - Returns: Whether the server was reached.
    public func push() async throws -> Bool {
        do {
            try await context.push()
            return true
        } catch let error as SyncError where error.isOffline {
            return false
        }
    }

    /// Closes the database.
    public func close() async throws {
        try await context.close()
    }
}
