// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

/// How responses show rows: the names of the system properties, and which of them.
struct RowFormat: Sendable {
    /// The number of bytes of a stored time that responses show.
    private let timeLength: Int
    private let prefix: String
    /// The id and the system properties that responses show, in the byte order of their names. Each has the JSON of its name
    /// with the punctuation before the value.
    private let members: [Member]

    private typealias Member = (start: [UInt8], column: ODataColumn)

    private static let allSystemColumns: [ODataColumn] = [.createdAt, .updatedAt, .version, .deleted]
    /// The members of all dialects but the first.
    private static let allMembers = members([.id] + allSystemColumns, prefix: "")

    init(_ dialect: TableServer.Dialect, _ request: RecordedRequest, settings: TableServer.Configuration) {
        let digits = settings.fractionDigits
        timeLength = "yyyy-MM-ddTHH:mm:ss".utf8.count + (digits == 0 ? 0 : 1 + digits)
        prefix = dialect.systemPrefix
        members =
            dialect == .v1
            ? Self.members([.id] + Self.systemColumns(requestedBy: request), prefix: prefix) : Self.allMembers
    }

    private static func members(_ columns: [ODataColumn], prefix: String) -> [Member] {
        columns.map { (name: name(of: $0, prefix: prefix), column: $0) }
            .sorted { $0.name.precedesInBytes($1.name) }
            .enumerated().map { position, member in
                (Array("\(position == 0 ? "{" : ",")\"\(member.name)\":".utf8), member.column)
            }
    }

    private static func systemColumns(requestedBy request: RecordedRequest) -> [ODataColumn] {
        let requested = request.parameters.first { $0.name.asciiLowercased == "__systemproperties" }?.value
        let names = (requested ?? "").split(separator: ",").map {
            $0.trimmingCharacters(in: .whitespaces).asciiLowercased
        }
        return allSystemColumns.filter { column in
            let name = column.name.asciiLowercased
            return names.contains { $0 == "*" || $0 == name || $0 == "__" + name }
        }
    }

    /// Returns the name of a column in responses.
    func name(of column: ODataColumn) -> String { Self.name(of: column, prefix: prefix) }

    private static func name(of column: ODataColumn, prefix: String) -> String {
        switch column {
        case .id, .field: column.name
        case .createdAt, .updatedAt, .version, .deleted: prefix + column.name
        }
    }

    /// Returns the JSON form of the row.
    func json(_ row: StoredRow) throws -> Data {
        var json = ByteWriter(capacity: 512)
        try append(row, to: &json)
        return json.data
    }

    /// Appends the JSON form of the row, with all columns or those whose names in lower case are given. The fields are copied
    /// without parsing, unless only some columns are.
    func append(_ row: StoredRow, to json: inout ByteWriter, columns selection: Set<String>? = nil) throws {
        if let selection {
            return try selected(selection, of: row).json.withUnsafeBytes { json.append($0) }
        }
        for member in members {
            member.start.withUnsafeBytes { json.append($0) }
            append(member.column, of: row, to: &json)
        }
        var fields = Self.fields(of: row)
        fields.withUTF8 { object in
            let rest = UnsafeBufferPointer(rebasing: object.dropFirst())
            if rest.count > 1 { json.append(UInt8(ascii: ",")) }
            json.append(UnsafeRawBufferPointer(rest))
        }
    }

    /// The fields without those that have the name of a system column in any dialect, which older servers have accepted.
    private static func fields(of row: StoredRow) -> String {
        JSONFields.removing(from: row.fields, where: TableServer.Dialect.isSystemName)
    }

    private func append(_ column: ODataColumn, of row: StoredRow, to json: inout ByteWriter) {
        switch column {
        case .id: json.append(json: row.id)
        case .createdAt: append(time: row.createdAt, to: &json)
        case .updatedAt: append(time: row.updatedAt, to: &json)
        case .version: json.append(json: TableRow.version(ofRevision: row.revision))
        case .deleted: json.append(row.deleted ? "true" : "false")
        case .field: json.append("null")
        }
    }

    /// Appends the JSON of a stored time, which has no character that JSON escapes, without a string for each time of a list.
    private func append(time stored: String, to json: inout ByteWriter) {
        json.append(UInt8(ascii: "\""))
        var stored = stored
        stored.withUTF8 { text in
            json.append(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(text).prefix(timeLength)))
        }
        json.append("Z\"")
    }

    private func selected(_ selection: Set<String>, of row: StoredRow) throws -> ItemValue {
        var object: [String: ItemValue] = [:]
        if case .object(let fields) = try ItemValue(json: Data(Self.fields(of: row).utf8)) {
            object = fields.filter { selection.contains($0.key.asciiLowercased) }
        }
        for member in members {
            let name = name(of: member.column)
            // With the prefix, the request has asked for the system property, whatever else it selects.
            let isRequested = !prefix.isEmpty && member.column != .id
            if isRequested || selection.contains(name.asciiLowercased) {
                object[name] = value(of: member.column, in: row)
            }
        }
        return .object(object)
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
    private func time(_ stored: String) -> String { String(Substring(stored.utf8.prefix(timeLength))) + "Z" }
}
