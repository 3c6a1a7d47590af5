// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Reads rows: see ``WireRow/init(_:version:dialect:definition:)``. It looks the indices of columns up once for all rows
/// with the same names.
struct WireRowReader {
    private let systemNames: WireDialect.SystemNames
    private let keepsUndeclared: Bool
    private let definition: SyncTableDefinition?
    private var indices: MemberIndices

    /// - Parameter names: those of the first row, if they are known.
    init(
        dialect: WireDialect, definition: SyncTableDefinition?,
        names: WireObject.Names = WireObject.Names([])
    ) {
        systemNames = dialect.systemNames
        keepsUndeclared = dialect.updatesWholeRow
        self.definition = definition
        indices = MemberIndices(names, systemNames, definition)
    }

    /// Reads a row that must have no problems.
    ///
    /// - Throws: as ``WireRow/init(_:version:dialect:definition:)``.
    mutating func read(_ row: WireObject, version: String? = nil) throws(SyncError) -> WireRow {
        let row = readRecordingProblems(row, version: version)
        if let problem = row.problems.first { throw problem.error }
        return row
    }

    /// Reads a row, and records its problems. The fields of a tombstone cause no problems.
    mutating func readRecordingProblems(_ row: WireObject, version: String? = nil) -> WireRow {
        if row.names !== indices.names { indices = MemberIndices(row.names, systemNames, definition) }
        var problems: [WireRow.Problem] = []
        let id = Self.id(of: row, at: indices.id, &problems)
        var system = SystemPropertyReader(row: row, id: id)
        let (createdAt, _) = system.date(systemNames.createdAt, at: indices.createdAt)
        let (updatedAt, updatedAtText) = system.date(systemNames.updatedAt, at: indices.updatedAt)
        let rowVersion = system.text(systemNames.version, at: indices.version)
        let deleted = system.bool(systemNames.deleted, at: indices.deleted) ?? false
        problems += system.problems
        var unreadable: [WireRow.Problem] = []
        let fields = fields(of: row, &unreadable)
        var undeclared = undeclared(in: row)
        if !deleted {
            problems += unreadable
        } else if keepsUndeclared {
            // An undelete that replaces the whole row sends them back.
            undeclared.merge(values(of: unreadable.map(\.column), in: row)) { shown, _ in shown }
        }
        let item = Item(
            id: id, content: fields,
            system: SystemProperties(
                createdAt: createdAt, updatedAt: updatedAt,
                version: EntityTag.version(inHeader: version, inRow: rowVersion), deleted: deleted,
                undeclared: undeclared))
        return WireRow(item: item, updatedAtText: updatedAtText, problems: problems)
    }

    /// Returns the id, even if it is not valid; empty if there is none.
    private static func id(of row: WireObject, at index: Int?, _ problems: inout [WireRow.Problem]) -> String
    {
        guard let id = row.value(at: index)?.textValue else {
            let missing = SyncError(
                .expectedItemInResponse, "The server's row has no id, or its id is not text.")
            problems.append(WireRow.Problem(column: "id", error: missing))
            return ""
        }
        do throws(SyncError) {
            try ItemID.validate(id)
        } catch {
            problems.append(WireRow.Problem(column: "id", error: error))
        }
        return id
    }

    /// Returns the values of columns as the server shows them.
    private func values(of columns: [String], in row: WireObject) -> [String: ItemValue] {
        var values: [String: ItemValue] = [:]
        for (column, index) in zip(definition?.columns ?? [], indices.columns)
        where columns.contains(column.name) && index.map({ row.unreadable[$0] == nil }) == true {
            values[column.name] = row.value(at: index)
        }
        return values
    }

    private func undeclared(in row: WireObject) -> [String: ItemValue] {
        var undeclared: [String: ItemValue] = [:]
        for index in indices.undeclared where row.unreadable[index] == nil {
            undeclared[row.names.texts[index]] = row.values[index]
        }
        return undeclared
    }

    private func fields(of row: WireObject, _ problems: inout [WireRow.Problem]) -> ItemFields {
        var fields: ItemFields
        if let definition {
            fields = definition.normalizedFromServer { index in
                row.value(at: indices.columns[index])
            } orElse: { column, error in
                problems.append(WireRow.Problem(column: column, error: error))
            }
        } else {
            fields = ItemFields(row.fields)
            for name in systemNames.all + ["id"] { fields[name] = nil }
        }
        for (index, reason) in row.unreadable where !indices.system.contains(index) {
            let column = indices.columns.firstIndex(of: index).flatMap { definition?.columns[$0].name }
            let name = column ?? row.names.texts[index]
            fields[name] = nil
            let isRead = definition == nil || keepsUndeclared || column != nil
            if isRead { problems.append(WireRow.Problem(malformed: name, reason)) }
        }
        return fields
    }
}

/// The indices of the members of a row in objects with these names.
private struct MemberIndices {
    let names: WireObject.Names
    let id, createdAt, updatedAt, version, deleted: Int?
    /// The index of each column of the table's definition.
    let columns: [Int?]
    /// The indices of members that are neither system properties nor synced columns; empty without a definition.
    let undeclared: [Int]

    init(_ names: WireObject.Names, _ system: WireDialect.SystemNames, _ definition: SyncTableDefinition?) {
        func index(_ name: String) -> Int? { names.texts.firstIndex(of: name) }
        self.names = names
        id = index("id")
        createdAt = index(system.createdAt)
        updatedAt = index(system.updatedAt)
        version = index(system.version)
        deleted = index(system.deleted)
        let reserved = ["id"] + system.all
        let columns: [Int?] = (definition?.columns ?? []).map { column in
            column.isLocalOnly ? nil : names.texts.index(ofColumn: column.name, except: reserved)
        }
        self.columns = columns
        undeclared = names.texts.indices.filter { index in
            definition != nil && !reserved.contains(names.texts[index]) && !columns.contains(index)
        }
    }

    var system: [Int?] { [id, createdAt, updatedAt, version, deleted] }
}

extension WireObject {
    fileprivate func value(at index: Int?) -> ItemValue? { index.map { values[$0] } }
}

extension WireRow.Problem {
    fileprivate init(malformed name: String, _ reason: String) {
        self.init(
            column: name,
            error: SyncError(.unreadableResponse, "The value of '\(name)' is not valid JSON: \(reason)."))
    }
}

/// Reads the system properties of one row. Missing and null are equivalent.
private struct SystemPropertyReader {
    let row: WireObject
    let id: String
    private(set) var problems: [WireRow.Problem] = []

    init(row: WireObject, id: String) {
        self.row = row
        self.id = id
    }

    mutating func text(_ name: String, at index: Int?) -> String? {
        guard let value = present(name, index) else { return nil }
        if value.textValue == nil { add(name, "is not text") }
        return value.textValue
    }

    /// Returns the date, and the server's text of it.
    mutating func date(_ name: String, at index: Int?) -> (value: Timestamp?, text: String?) {
        guard let value = present(name, index) else { return (nil, nil) }
        let text = value.textValue
        let date = text.flatMap { Timestamp(serverText: $0) }
        if date == nil { add(name, "is not a date") }
        return (date, text ?? "")
    }

    mutating func bool(_ name: String, at index: Int?) -> Bool? {
        guard let value = present(name, index) else { return nil }
        if value.boolValue == nil { add(name, "is neither true nor false") }
        return value.boolValue
    }

    private mutating func present(_ name: String, _ index: Int?) -> ItemValue? {
        if let index, let reason = row.unreadable[index] {
            add(name, "is not valid JSON: \(reason)")
            return .none
        }
        guard let value = row.value(at: index), !value.isNull else { return .none }
        return value
    }

    private mutating func add(_ name: String, _ problem: String) {
        let error = SyncError(
            .unreadableResponse, "The server's row '\(id)' cannot be read: its '\(name)' \(problem).")
        problems.append(WireRow.Problem(column: name, error: error))
    }
}
