// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The server's response to a request of an attempt, reduced to what a push needs.
struct AttemptResponse: Sendable, Hashable {
    var status: Int
    var classification: ResponseClassification
    /// The server's row, if the response has one: a row has a version, an echo of the request has none.
    var row: Item?
    /// Fields of the row that do not fit their columns, as the server shows them. Compared with what was
    /// sent; not stored as fields.
    var unreadableFields: [String: ItemValue] = [:]
    /// The id of a row that is not the requested one.
    var otherID: String?
    /// The server's message.
    var message: String?
    /// The value of `Retry-After`, unchanged.
    var retryAfter: String?
}

extension AttemptResponse {
    /// Reads a response. Only a row of the requested item counts; in a conflict, only one with a version.
    init(_ response: RemoteResponse, itemID: String?, definition: SyncTableDefinition, dialect: WireDialect) {
        self.init(
            status: response.status, classification: response.classification, message: response.message,
            retryAfter: response.retryAfter)
        guard let shown = try? response.row(dialect: dialect)?.item else { return }
        guard itemID.map(shown.id.hasSameBytes) ?? true else {
            otherID = shown.id
            return
        }
        guard response.isSuccess || shown.system.version != nil else { return }
        read(shown, definition)
        let isWhole =
            response.isSuccess || shown.system.deleted
            || definition.syncedColumns.contains { row?.content[$0.name] != nil }
            || !unreadableFields.isEmpty || definition.syncedColumns.isEmpty
        // A conflict may show only the id and the version. The row has to be read to decide.
        if !isWhole { row = nil }
    }

    /// Takes the row of the item as the server shows it.
    mutating func read(_ shown: Item, _ definition: SyncTableDefinition) {
        var (item, unreadable) = (shown, [String: ItemValue]())
        let fields = definition.spellingColumns(of: shown.fields)
        item.system.undeclared = definition.undeclared(in: fields)
        item.content = definition.normalizedFromServer { index in
            fields[definition.columns[index].name]
        } orElse: { column, _ in
            unreadable[column] = fields[column]
        }
        unreadableFields = unreadable
        // Updates that replace the whole row send these fields back unchanged.
        item.system.undeclared.merge(unreadable) { _, shown in shown }
        row = item
    }
}
