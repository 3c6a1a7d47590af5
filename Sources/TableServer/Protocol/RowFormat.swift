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
    func json(_ row: TableRow, columns: Set<String>? = nil) -> Data {
        var object = row.fields
        object["id"] = .text(row.id)
        for column in systemColumns { object[name(of: column)] = value(of: column, in: row) }
        if let columns { object = object.filter { columns.contains($0.key) } }
        return ItemValue.object(object).json
    }

    private func value(of column: ODataColumn, in row: TableRow) -> ItemValue {
        switch column {
        case .createdAt: .date(row.createdAt.showing(fractionDigits: fractionDigits))
        case .updatedAt: .date(row.updatedAt.showing(fractionDigits: fractionDigits))
        default: column.value(in: row)
        }
    }
}
