// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// A request that writes one row: decides by the row as it is, changes it, and returns what to answer.
///
/// The text of the response is made after the commit, because writes wait for each other.
struct RowWrite: Sendable {
    let dialect: TableServer.Dialect
    private let settings: TableServer.Configuration
    private let fixedStamp: Timestamp?
    /// Whether the caller may see the fields of rows; otherwise responses show only those that the request has sent.
    private let mayRead: Bool
    private let precondition: Precondition
    private let format: RowFormat

    /// What to answer.
    enum Outcome: Sendable {
        case row(StoredRow, status: Int)
        case value(ItemValue, status: Int)
        case empty(status: Int)
    }

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

    func insert(_ rows: any RowWriter, _ body: WriteBody) throws -> Outcome {
        let id = body.id ?? settings.makeID()
        if let existing = try rows.row(id) {
            // `If-None-Match: *`, or the tag of this row.
            guard precondition.isModified(existing.version) else {
                return try unchanged(existing, status: 412)
            }
            guard dialect != .v3, settings.insertConflictBody == .echo else {
                guard try isRepeated(body, as: existing, rows) else {
                    return try unchanged(existing, status: 409)
                }
                return try changed(StoredRow(existing), by: body, status: 409)
            }
            return .value(body.item, status: 409)
        }
        var row = try TableRow(newIn: rows, id: id, at: stamp(rows))
        try merge(body, into: &row, rows)
        return try changed(rows.put(row), by: body, status: 201)
    }

    func update(_ rows: any RowWriter, id: String, _ body: WriteBody) throws -> Outcome {
        if let bodyID = body.id { try check(bodyID, isIDOfPath: id) }
        // The modelled server generates an SQL statement without columns, which fails.
        guard !body.fields.isEmpty else {
            throw RequestError(status: 500, message: "The body has no fields to update.")
        }
        guard let row = try rows.row(id) else { throw RequestError.itemNotFound }
        guard precondition.allows(row.version) else { return try unchanged(row, status: 412) }
        if let version = body.version, version != row.version { return try unchanged(row, status: 409) }
        let new = try row.changed(at: stamp(rows)) { row in try merge(body, into: &row, rows) }
        let stored = try rows.put(new, replacing: row)
        try requireSize(of: stored)
        return try changed(stored, by: body)
    }

    /// Replaces the whole row. A tombstone becomes a row again if the request includes tombstones.
    func replace(
        _ rows: any RowWriter, id: String, _ body: WriteBody, includesDeleted: Bool
    ) throws -> Outcome {
        guard let bodyID = body.id else { throw RequestError.badRequest("The body has no id.") }
        try check(bodyID, isIDOfPath: id)
        guard let row = try rows.row(id) else { throw RequestError.itemNotFound }
        guard !row.deleted || includesDeleted else { throw RequestError.itemDeleted }
        guard precondition.allows(row.version) else { return try unchanged(row, status: 412) }
        // A caller who may not read the row must not learn whether the values are the row's.
        let unchanged = try body.unchangedFields(of: mayRead ? row : nil, columns: rows.columns())
        let new = try row.changed(at: stamp(rows)) { row in
            // A column that the body does not contain becomes null, as in a table with fixed columns.
            row.fields = row.fields.mapValues { _ in .null }.merging(unchanged) { $1 }
            try merge(body, into: &row, rows)
            row.deleted = false
        }
        let stored = try rows.put(new, replacing: row)
        try requireSize(of: stored)
        return try changed(stored, by: body)
    }

    func delete(_ rows: any RowWriter, id: String, isSoft: Bool) throws -> Outcome {
        guard let row = try rows.row(id) else { throw RequestError.itemNotFound }
        if row.deleted {
            if dialect == .v3 { throw RequestError.itemDeleted }
            return try .row(shown(StoredRow(row)), status: precondition.isConditional ? 412 : 409)
        }
        guard precondition.allows(row.version) else { return try unchanged(row, status: 412) }
        guard isSoft else {
            try rows.remove(row)
            return try deletion(of: StoredRow(row))
        }
        let tombstone = try row.changed(at: stamp(rows)) { $0.deleted = true }
        return try deletion(of: rows.put(tombstone, replacing: row))
    }

    func undelete(_ rows: any RowWriter, id: String) throws -> Outcome {
        guard let row = try rows.row(id) else { throw RequestError.itemNotFound }
        guard precondition.allows(row.version) else { return try unchanged(row, status: 412) }
        let restored = try row.changed(at: stamp(rows)) { $0.deleted = false }
        return try changed(rows.put(restored, replacing: row), status: 201)
    }

    private func check(_ bodyID: String, isIDOfPath id: String) throws {
        guard bodyID.hasSameBytes(as: id) else {
            throw RequestError.badRequest("The id in the body differs from the id in the path.")
        }
    }

    private func stamp(_ rows: any RowWriter) throws -> Timestamp { try fixedStamp ?? rows.stamp() }

    private func deletion(of row: StoredRow) throws -> Outcome {
        dialect == .v3 ? .empty(status: 204) : try changed(row)
    }

    private func changed(
        _ row: StoredRow, by body: WriteBody? = nil, status: Int = 200
    ) throws -> Outcome {
        try .row(shown(row, sent: body?.fields ?? [:]), status: status)
    }

    /// Whether the insert may be one whose first response was lost: the row has its values, and no others. A caller who may not
    /// read the row can then see that it is stored, and learns no value by guessing some of them.
    private func isRepeated(_ body: WriteBody, as row: TableRow, _ rows: any RowWriter) throws -> Bool {
        var sent = row
        sent.fields = [:]
        sent.merge(body.fields, columns: try rows.columns())
        return !row.deleted && sent.fields.filter { !$1.isNull } == row.fields.filter { !$1.isNull }
    }

    private func unchanged(_ row: TableRow, status: Int) throws -> Outcome {
        guard mayRead else {
            throw RequestError(
                status: status,
                message: "The table has another row of this id, or another version of the row.")
        }
        return .row(StoredRow(row), status: status)
    }

    /// Returns the response to the request, after the commit.
    func response(to outcome: Outcome) throws -> ServerResponse {
        switch outcome {
        case .row(let row, let status): try .row(row, status: status, format: format)
        case .value(let value, let status): .value(value, status: status)
        case .empty(let status): .empty(status: status)
        }
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

    private func merge(_ body: WriteBody, into row: inout TableRow, _ rows: any RowWriter) throws {
        // The fields of a row have the names of columns already.
        guard body.fields.keys.contains(where: { row.fields[$0] == nil }) else {
            return row.fields.merge(body.fields) { $1 }
        }
        var columns = try rows.columns()
        row.merge(body.fields, columns: columns)
        for name in body.fields.keys { columns.add(name) }
        // Those that are declared are also stored if clients had added too many others before.
        guard columns.count <= Self.maxColumns || body.hasDeclaredFields else {
            throw RequestError.badRequest("The table would have more than \(Self.maxColumns) columns.")
        }
    }

    /// The error takes the change back.
    private func requireSize(of row: StoredRow) throws {
        guard row.fields.utf8.count <= settings.maxRowSize else {
            throw RequestError(
                status: 413, message: "The row would be larger than \(settings.maxRowSize) bytes.")
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
