// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// The decision of a request that writes one row: its changes and its response.
struct RowWrite: Sendable {
    typealias Decision = RowStore.Decision<ServerResponse>

    let dialect: TableServer.Dialect
    private let settings: TableServer.Configuration
    private let stamp: Timestamp
    private let precondition: Precondition
    private let format: RowFormat

    /// - Parameter stamp: The `updatedAt` of the changes.
    init(
        _ request: RecordedRequest, _ dialect: TableServer.Dialect, _ stamp: Timestamp,
        settings: TableServer.Configuration
    ) {
        self.dialect = dialect
        self.settings = settings
        self.stamp = stamp
        precondition = Precondition(request, dialect)
        format = RowFormat(dialect, request, settings: settings)
    }

    func insert(_ rows: borrowing TableRows, _ body: WriteBody) throws -> Decision {
        let id = body.id ?? settings.makeID()
        if let existing = rows[id] {
            // `If-None-Match: *`, or the tag of this row.
            guard precondition.isModified(existing.version) else { return unchanged(existing, status: 412) }
            guard dialect != .v3, settings.insertConflictBody == .echo else {
                return unchanged(existing, status: 409)
            }
            return (.value(body.item, status: 409), [])
        }
        var row = TableRow(
            id: id, fields: [:], createdAt: stamp, updatedAt: stamp, revision: 1, deleted: false,
            sequence: rows.lastSequence + 1)
        row.merge(body.fields, columns: rows.columns)
        return (.row(row, status: 201, format: format), [.put(row)])
    }

    func update(_ rows: borrowing TableRows, id: String, _ body: WriteBody) throws -> Decision {
        if let bodyID = body.id { try check(bodyID, isIDOfPath: id) }
        // The modelled server generates an SQL statement without columns, which fails.
        guard !body.fields.isEmpty else {
            throw RequestError(status: 500, message: "The body has no fields to update.")
        }
        guard let row = rows[id] else { throw RequestError.itemNotFound }
        guard precondition.allows(row.version) else { return unchanged(row, status: 412) }
        if let version = body.version, version != row.version { return unchanged(row, status: 409) }
        let columns = rows.columns
        return put(row.changed(at: stamp) { $0.merge(body.fields, columns: columns) })
    }

    /// Replaces the whole row. A tombstone becomes a row again if the request includes tombstones.
    func replace(
        _ rows: borrowing TableRows, id: String, _ body: WriteBody, includesDeleted: Bool
    ) throws -> Decision {
        guard let bodyID = body.id else { throw RequestError.badRequest("The body has no id.") }
        try check(bodyID, isIDOfPath: id)
        guard let row = rows[id] else { throw RequestError.itemNotFound }
        guard !row.deleted || includesDeleted else { throw RequestError.itemDeleted }
        guard precondition.allows(row.version) else { return unchanged(row, status: 412) }
        let columns = rows.columns
        return put(
            row.changed(at: stamp) { row in
                // A column that the body does not contain becomes null, as in a table with fixed columns.
                row.fields = row.fields.mapValues { _ in .null }
                row.merge(body.fields, columns: columns)
                row.deleted = false
            })
    }

    func delete(_ rows: borrowing TableRows, id: String) throws -> Decision {
        guard let row = rows[id] else { throw RequestError.itemNotFound }
        if row.deleted {
            if dialect == .v3 { throw RequestError.itemDeleted }
            return unchanged(row, status: precondition.isConditional ? 412 : 409)
        }
        guard precondition.allows(row.version) else { return unchanged(row, status: 412) }
        guard rows.table.softDelete else { return (deletion(of: row), [.remove(row.key)]) }
        let tombstone = row.changed(at: stamp) { $0.deleted = true }
        return (deletion(of: tombstone), [.put(tombstone)])
    }

    func undelete(_ rows: borrowing TableRows, id: String) throws -> Decision {
        guard let row = rows[id] else { throw RequestError.itemNotFound }
        guard precondition.allows(row.version) else { return unchanged(row, status: 412) }
        return put(row.changed(at: stamp) { $0.deleted = false }, status: 201)
    }

    private func check(_ bodyID: String, isIDOfPath id: String) throws {
        guard bodyID.hasSameBytes(as: id) else {
            throw RequestError.badRequest("The id in the body differs from the id in the path.")
        }
    }

    private func deletion(of row: TableRow) -> ServerResponse {
        dialect == .v3 ? .empty(status: 204) : .row(row, format: format)
    }

    private func put(_ row: TableRow, status: Int = 200) -> Decision {
        (.row(row, status: status, format: format), [.put(row)])
    }

    private func unchanged(_ row: TableRow, status: Int) -> Decision {
        (.row(row, status: status, format: format), [])
    }
}
