// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// A request that writes one row: decides by the row as it is, changes it, and returns the response.
struct RowWrite: Sendable {
    let dialect: TableServer.Dialect
    private let settings: TableServer.Configuration
    private let fixedStamp: Timestamp?
    /// Whether the caller may see the fields of rows; otherwise responses show only those that the request has sent.
    private let mayRead: Bool
    private let precondition: Precondition
    private let format: RowFormat

    /// - Parameter stamp: The `updatedAt` of the changes; `nil` for the time of the transaction.
    init(
        _ request: RecordedRequest, _ dialect: TableServer.Dialect, _ stamp: Timestamp?, mayRead: Bool,
        settings: TableServer.Configuration
    ) {
        self.dialect = dialect
        self.settings = settings
        self.mayRead = mayRead
        fixedStamp = stamp
        precondition = Precondition(request, dialect)
        format = RowFormat(dialect, request, settings: settings)
    }

    func insert(_ rows: any RowWriter, _ body: WriteBody) throws -> ServerResponse {
        let id = body.id ?? settings.makeID()
        if let existing = try rows.row(id) {
            // `If-None-Match: *`, or the tag of this row.
            guard precondition.isModified(existing.version) else {
                return try unchanged(existing, status: 412)
            }
            guard dialect != .v3, settings.insertConflictBody == .echo else {
                return try unchanged(existing, status: 409)
            }
            return .value(body.item, status: 409)
        }
        var row = try TableRow(newIn: rows, id: id, at: stamp(rows))
        try merge(body, into: &row, columns: rows.columns())
        return try response(rows.put(row), to: body, status: 201)
    }

    func update(_ rows: any RowWriter, id: String, _ body: WriteBody) throws -> ServerResponse {
        if let bodyID = body.id { try check(bodyID, isIDOfPath: id) }
        // The modelled server generates an SQL statement without columns, which fails.
        guard !body.fields.isEmpty else {
            throw RequestError(status: 500, message: "The body has no fields to update.")
        }
        guard let row = try rows.row(id) else { throw RequestError.itemNotFound }
        guard precondition.allows(row.version) else { return try unchanged(row, status: 412) }
        if let version = body.version, version != row.version { return try unchanged(row, status: 409) }
        let columns = try rows.columns()
        let changed = try row.changed(at: stamp(rows)) { row in
            try merge(body, into: &row, columns: columns)
        }
        let stored = try rows.put(changed)
        try requireSize(of: stored)
        return try response(stored, to: body)
    }

    /// Replaces the whole row. A tombstone becomes a row again if the request includes tombstones.
    func replace(
        _ rows: any RowWriter, id: String, _ body: WriteBody, includesDeleted: Bool
    ) throws -> ServerResponse {
        guard let bodyID = body.id else { throw RequestError.badRequest("The body has no id.") }
        try check(bodyID, isIDOfPath: id)
        guard let row = try rows.row(id) else { throw RequestError.itemNotFound }
        guard !row.deleted || includesDeleted else { throw RequestError.itemDeleted }
        guard precondition.allows(row.version) else { return try unchanged(row, status: 412) }
        let columns = try rows.columns()
        // A caller who may not read the row must not learn whether the values are the row's.
        let unchanged = try body.unchangedFields(of: mayRead ? row : nil, columns: columns)
        let changed = try row.changed(at: stamp(rows)) { row in
            // A column that the body does not contain becomes null, as in a table with fixed columns.
            row.fields = row.fields.mapValues { _ in .null }.merging(unchanged) { $1 }
            try merge(body, into: &row, columns: columns)
            row.deleted = false
        }
        return try response(rows.put(changed), to: body)
    }

    func delete(_ rows: any RowWriter, id: String, isSoft: Bool) throws -> ServerResponse {
        guard let row = try rows.row(id) else { throw RequestError.itemNotFound }
        if row.deleted {
            if dialect == .v3 { throw RequestError.itemDeleted }
            return try unchanged(row, status: precondition.isConditional ? 412 : 409)
        }
        guard precondition.allows(row.version) else { return try unchanged(row, status: 412) }
        guard isSoft else {
            try rows.remove(row)
            return try deletion(of: StoredRow(row))
        }
        let tombstone = try rows.put(try row.changed(at: stamp(rows)) { $0.deleted = true })
        return try deletion(of: tombstone)
    }

    func undelete(_ rows: any RowWriter, id: String) throws -> ServerResponse {
        guard let row = try rows.row(id) else { throw RequestError.itemNotFound }
        guard precondition.allows(row.version) else { return try unchanged(row, status: 412) }
        let restored = try rows.put(row.changed(at: stamp(rows)) { $0.deleted = false })
        return try response(restored, status: 201)
    }

    private func check(_ bodyID: String, isIDOfPath id: String) throws {
        guard bodyID.hasSameBytes(as: id) else {
            throw RequestError.badRequest("The id in the body differs from the id in the path.")
        }
    }

    private func stamp(_ rows: any RowWriter) throws -> Timestamp { try fixedStamp ?? rows.stamp() }

    private func deletion(of row: StoredRow) throws -> ServerResponse {
        dialect == .v3 ? .empty(status: 204) : try .row(shown(row), format: format)
    }

    private func response(
        _ row: StoredRow, to body: WriteBody? = nil, status: Int = 200
    ) throws -> ServerResponse {
        try .row(shown(row, sent: body?.fields ?? [:]), status: status, format: format)
    }

    private func unchanged(_ row: TableRow, status: Int) throws -> ServerResponse {
        guard mayRead else {
            throw RequestError(
                status: status,
                message: "The table has another row of this id, or another version of the row.")
        }
        return try .row(StoredRow(row), status: status, format: format)
    }

    /// Returns the row with the fields that the caller may see.
    private func shown(_ stored: StoredRow, sent: [String: ItemValue] = [:]) throws -> StoredRow {
        guard !mayRead else { return stored }
        let names = Set(sent.keys.map(\.asciiLowercased))
        var row = try TableRow(stored)
        row.fields = row.fields.filter { names.contains($0.key.asciiLowercased) }
        return StoredRow(row)
    }
}

/// The limits of rows. Without them, one client could make the requests of all others slow.
extension RowWrite {
    /// The maximum number of columns that the rows of a table have together.
    static let maxColumns = 2000

    private func merge(_ body: WriteBody, into row: inout TableRow, columns: ColumnNames) throws {
        row.merge(body.fields, columns: columns)
        var columns = columns
        for name in body.fields.keys { columns.add(name) }
        // Those that are declared are also stored if clients had added too many others before.
        guard columns.count <= Self.maxColumns || body.hasDeclaredFields else {
            throw RequestError.badRequest("The table would have more than \(Self.maxColumns) columns.")
        }
    }

    /// Small changes can make a row larger than a body can be. The error takes the change back.
    private func requireSize(of row: StoredRow) throws {
        let (product, isTooLarge) = settings.maxBodySize.multipliedReportingOverflow(by: 10)
        let maxSize = isTooLarge ? .max : product
        guard row.fields.utf8.count <= maxSize else {
            throw RequestError(status: 413, message: "The row would be larger than \(maxSize) bytes.")
        }
    }
}

extension TableRow {
    /// Makes a row without fields.
    init(newIn rows: any RowWriter, id: String, at stamp: Timestamp) throws {
        self.init(
            id: id, fields: [:], createdAt: stamp, updatedAt: stamp, revision: try rows.firstRevision(),
            deleted: false, sequence: 0)
    }
}
