// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

/// How responses show rows: the names of the system properties, and which of them.
struct RowFormat: Sendable {
    private let fractionDigits: Int
    private let prefix: String
    private let systemColumns: [ODataColumn]

    private static let allSystemColumns: [ODataColumn] = [.createdAt, .updatedAt, .version, .deleted]

    init(_ dialect: TableServer.Dialect, _ request: RecordedRequest, settings: TableServer.Configuration) {
        fractionDigits = settings.fractionDigits
        prefix = dialect.systemPrefix
        guard dialect == .v1 else {
            systemColumns = Self.allSystemColumns
            return
        }
        let requested = request.parameters.first { $0.name.asciiLowercased == "__systemproperties" }?.value
        let names = (requested ?? "").split(separator: ",").map {
            $0.trimmingCharacters(in: .whitespaces).asciiLowercased
        }
        systemColumns = Self.allSystemColumns.filter { column in
            let name = column.name.asciiLowercased
            return names.contains { $0 == "*" || $0 == name || $0 == "__" + name }
        }
    }

    /// Returns the name of a column in responses.
    func name(of column: ODataColumn) -> String {
        switch column {
        case .id, .field: column.name
        case .createdAt, .updatedAt, .version, .deleted: prefix + column.name
        }
    }

    /// Returns the JSON form of the row, with all columns or the given ones.
    func json(_ row: TableRow, columns: Set<String>? = nil) throws -> Data {
        var json = Data()
        try append(StoredRow(row), to: &json, columns: columns)
        return json
    }

    /// Appends the JSON form of the row, with all columns or the given ones. The fields are copied without parsing, unless
    /// only some columns are.
    func append(_ row: StoredRow, to json: inout Data, columns: Set<String>? = nil) throws {
        var object: [String: ItemValue] = ["id": .text(row.id)]
        for column in systemColumns { object[name(of: column)] = value(of: column, in: row) }
        guard let columns else {
            json.append(ItemValue.object(object).json.dropLast())
            if row.fields.utf8.count > 2 { json.append(UInt8(ascii: ",")) }
            json.append(contentsOf: row.fields.utf8.dropFirst())
            return
        }
        if case .object(let fields) = try ItemValue(json: Data(row.fields.utf8)) {
            object.merge(fields) { system, _ in system }
        }
        json.append(ItemValue.object(object.filter { columns.contains($0.key) }).json)
    }

    private func value(of column: ODataColumn, in row: StoredRow) -> ItemValue {
        switch column {
        case .id: .text(row.id)
        case .createdAt: .text(time(row.createdAt))
        case .updatedAt: .text(time(row.updatedAt))
        case .version: .text(TableRow.version(ofRevision: row.revision))
        case .deleted: .bool(row.deleted)
        case .field: .null
        }
    }

    /// Returns a stored time with the fraction digits of responses.
    private func time(_ stored: String) -> String {
        let length = "yyyy-MM-ddTHH:mm:ss".utf8.count
        return String(stored.prefix(fractionDigits == 0 ? length : length + 1 + fractionDigits)) + "Z"
    }
}
