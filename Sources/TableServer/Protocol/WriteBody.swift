// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

/// The body of an insert or update, validated as far as possible without the row.
struct WriteBody: Sendable {
    /// The item's fields without the id and the system properties, in the spelling of the declared columns.
    let fields: [String: ItemValue]
    /// Fields of a whole row that the table does not declare: a client returns them as it has received them.
    let undeclared: [String: ItemValue]
    private let table: TableServer.Table
    let id: String?
    let version: String?
    /// The item as received.
    let item: ItemValue

    init(
        _ request: RecordedRequest, _ dialect: TableServer.Dialect, _ table: TableServer.Table,
        settings: TableServer.Configuration
    ) throws(RequestError) {
        let maxSize = settings.maxBodySize(of: request.method)
        guard request.bodySize <= maxSize else { throw Self.tooLarge(400, maxSize) }
        do throws(JSONError) { item = try ItemValue(json: request.body) } catch {
            throw .badRequest("\(error)")
        }
        guard case .object(let object) = item else { throw .badRequest("The body is not a JSON object.") }

        var (fields, undeclared): ([String: ItemValue], [String: ItemValue]) = ([:], [:])
        var (id, version): (String?, String?)
        var seen: Set<String> = []
        let columns = table.declaredColumns
        for (name, value) in object {
            guard seen.insert(name.asciiLowercased).inserted else {
                throw .badRequest(
                    "The property '\(name)' appears twice; names that differ only in case are the same property."
                )
            }
            switch dialect.systemColumn(named: name) {
            case .id: id = try Self.id(value)
            case .version: version = try Self.version(value)
            case .createdAt, .updatedAt, .deleted:
                // The item of dialect v3 contains them, as responses do; the server ignores them.
                guard dialect == .v3 else { throw Self.systemProperty(name) }
            case .field, nil:
                guard !TableServer.Dialect.isSystemName(name.utf8) else { throw Self.systemProperty(name) }
                try Self.check(name, value, settings)
                if let columns, !columns.contains(name) {
                    guard request.method == "PUT" else { throw Self.undeclared(name, table) }
                    undeclared[name] = value
                    continue
                }
                fields[columns?.spelling(of: name) ?? name] = value
            }
        }
        (self.fields, self.undeclared, self.id, self.version) = (fields, undeclared, id, version)
        self.table = table
    }

    /// Whether all ``fields`` are columns that the table declares.
    var hasDeclaredFields: Bool { table.columns != nil }

    /// Checks that the undeclared fields have the values of the row, and returns them.
    func unchangedFields(
        of row: TableRow?, columns: ColumnNames
    ) throws(RequestError) -> [String: ItemValue] {
        var kept: [String: ItemValue] = [:]
        for (name, value) in undeclared {
            let column = columns.spelling(of: name)
            guard let stored = row?.fields[column],
                stored == value || stored.doubleValue.map({ $0 == value.doubleValue }) == true
            else { throw Self.undeclared(name, table) }
            kept[column] = stored
        }
        return kept
    }

    private static func undeclared(_ name: String, _ table: TableServer.Table) -> RequestError {
        .badRequest(table.problem(ofUndeclaredColumn: name))
    }

    /// The error of a body that the server has read, with status 400, or has not read to its end, with 413.
    static func tooLarge(_ status: Int, _ maxSize: Int) -> RequestError {
        RequestError(status: status, message: "The body is larger than \(maxSize) bytes.")
    }

    private static func systemProperty(_ name: String) -> RequestError {
        .badRequest("Only the server sets the property '\(name)': remove it from the body.")
    }

    private static func id(_ value: ItemValue) throws(RequestError) -> String? {
        if value.isNull { return nil }
        guard let id = value.textValue else { throw .badRequest("The id is not a string.") }
        if let problem = problem(inID: id) { throw .badRequest(problem) }
        return id
    }

    /// A condition that cannot be read must not become none.
    private static func version(_ value: ItemValue) throws(RequestError) -> String? {
        if value.isNull { return nil }
        guard let version = value.textValue else { throw .badRequest("The version is not a string.") }
        return version
    }

    /// Returns why the id is invalid, or `nil` when it is valid.
    static func problem(inID id: String) -> String? {
        guard !id.isEmpty else { return "The id is empty." }
        guard id != ".", id != ".." else { return "The id '\(id)' is a relative path in a URL." }
        guard id.unicodeScalars.count <= 255 else { return "The id is longer than 255 characters." }
        guard !id.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            return "The id contains a control character."
        }
        return nil
    }

    private static func check(
        _ name: String, _ value: ItemValue, _ settings: TableServer.Configuration
    ) throws(RequestError) {
        guard name.isTableOrColumnName else {
            throw .badRequest("The property name '\(name)' is invalid: use letters, digits and '_'.")
        }
        switch value {
        case .array, .object:
            guard settings.acceptsNestedValues else {
                throw RequestError(
                    status: 500,
                    message:
                        "The property '\(name)' is an object or array, which this server does not accept.")
            }
            guard value.isExpressibleInJSON(depth: ItemValue.depthInLists) else {
                throw .badRequest("The property '\(name)' is nested too deeply for a list of rows.")
            }
        default: break
        }
    }
}

extension TableRow {
    /// Sets fields; a name that differs only in case from a column's name is that column.
    mutating func merge(_ newFields: [String: ItemValue], columns: ColumnNames) {
        for (name, value) in newFields { fields[columns.spelling(of: name)] = value }
    }
}
