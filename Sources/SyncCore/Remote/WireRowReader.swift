// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Reads rows: see ``WireRow/init(_:version:dialect:definition:)``. Where a row has what, it finds out once for all
/// rows with the same names.
struct WireRowReader {
    private let systemNames: WireDialect.SystemNames
    private let keepsUndeclared: Bool
    private let definition: SyncTableDefinition?
    private var places: Places

    init(dialect: WireDialect, definition: SyncTableDefinition?) {
        systemNames = dialect.systemNames
        keepsUndeclared = dialect.updatesWholeRow
        self.definition = definition
        places = Places(WireObject.Names([]), systemNames, definition)
    }

    /// Reads a row that must be readable as a whole.
    ///
    /// - Throws: as ``WireRow/init(_:version:dialect:definition:)``.
    mutating func read(_ row: WireObject, version: String? = nil) throws(SyncError) -> WireRow {
        let row = readPossible(row, version: version)
        if let problem = row.problems.first { throw problem.error }
        return row
    }

    /// Reads what can be read of a row. Of a tombstone, nothing but the system properties has to be readable.
    mutating func readPossible(_ row: WireObject, version: String? = nil) -> WireRow {
        if row.names !== places.names { places = Places(row.names, systemNames, definition) }
        var problems: [WireRow.Problem] = []
        let id = Self.id(of: row, at: places.id, &problems)
        var system = SystemPropertyReader(row: row, id: id)
        let (createdAt, _) = system.date(systemNames.createdAt, at: places.createdAt)
        let (updatedAt, updatedAtText) = system.date(systemNames.updatedAt, at: places.updatedAt)
        let rowVersion = system.text(systemNames.version, at: places.version)
        let deleted = system.bool(systemNames.deleted, at: places.deleted) ?? false
        problems += system.problems
        var unreadable: [WireRow.Problem] = []
        let fields = fields(of: row, &unreadable)
        if !deleted { problems += unreadable }
        let item = Item(
            id: id, fields: fields,
            system: SystemProperties(
                createdAt: createdAt, updatedAt: updatedAt,
                version: version ?? rowVersion.flatMap { $0.isEmpty ? nil : $0 }, deleted: deleted,
                undeclared: undeclared(in: row)))
        return WireRow(item: item, updatedAtText: updatedAtText, problems: problems)
    }

    /// The id as it came, also when it breaks the rules; empty when there is none.
    private static func id(of row: WireObject, at place: Int?, _ problems: inout [WireRow.Problem]) -> String
    {
        guard let id = row.value(at: place)?.textValue else {
            let missing = SyncError(
                .expectedItemInResponse, "The server's row has no id, or one that is no text.")
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

    private func undeclared(in row: WireObject) -> [String: ItemValue] {
        var undeclared: [String: ItemValue] = [:]
        for place in places.undeclared where row.unreadable[place] == nil {
            undeclared[row.names.texts[place]] = row.values[place]
        }
        return undeclared
    }

    private func fields(of row: WireObject, _ problems: inout [WireRow.Problem]) -> [String: ItemValue] {
        var fields: [String: ItemValue]
        if let definition {
            fields = definition.normalizedFromServer { index in
                row.value(at: places.columns[index])
            } orElse: { column, error in
                problems.append(WireRow.Problem(column: column, error: error))
            }
        } else {
            fields = row.fields
            for name in systemNames.all + ["id"] { fields[name] = nil }
        }
        for (place, reason) in row.unreadable where !places.system.contains(place) {
            fields[row.names.texts[place]] = nil
            let isRead = definition == nil || keepsUndeclared || places.columns.contains(place)
            if isRead { problems.append(row.problem(at: place, reason)) }
        }
        return fields
    }
}

/// Where objects of these names have what a row consists of.
private struct Places {
    let names: WireObject.Names
    let id, createdAt, updatedAt, version, deleted: Int?
    /// By the index of the column in the table's definition.
    let columns: [Int?]
    /// Of the members that are neither system properties nor synced columns; empty without a definition.
    let undeclared: [Int]

    init(_ names: WireObject.Names, _ system: WireDialect.SystemNames, _ definition: SyncTableDefinition?) {
        func place(_ name: String) -> Int? { names.texts.firstIndex(of: name) }
        self.names = names
        id = place("id")
        createdAt = place(system.createdAt)
        updatedAt = place(system.updatedAt)
        version = place(system.version)
        deleted = place(system.deleted)
        columns = definition?.columns.map { $0.isLocalOnly ? nil : place($0.name) } ?? []
        let reserved = ["id"] + system.all
        undeclared = names.texts.indices.filter { index in
            guard let definition else { return false }
            let name = names.texts[index]
            return !reserved.contains(name) && !definition.syncs(name)
        }
    }

    var system: [Int?] { [id, createdAt, updatedAt, version, deleted] }
}

extension WireObject {
    fileprivate func value(at place: Int?) -> ItemValue? { place.map { values[$0] } }

    fileprivate func problem(at place: Int, _ reason: String) -> WireRow.Problem {
        let name = names.texts[place]
        return WireRow.Problem(
            column: name,
            error: SyncError(.unreadableResponse, "The value of '\(name)' is no JSON: \(reason)."))
    }
}

/// Reads the system properties of one row; missing and null are alike.
private struct SystemPropertyReader {
    let row: WireObject
    let id: String
    private(set) var problems: [WireRow.Problem] = []

    init(row: WireObject, id: String) {
        self.row = row
        self.id = id
    }

    mutating func text(_ name: String, at place: Int?) -> String? {
        guard let value = present(name, place) else { return nil }
        if value.textValue == nil { add(name, "is not a text") }
        return value.textValue
    }

    /// The date, and the text that the server has written for it.
    mutating func date(_ name: String, at place: Int?) -> (value: Timestamp?, text: String?) {
        guard let value = present(name, place) else { return (nil, nil) }
        let text = value.textValue
        let date = text.flatMap { Timestamp(serverText: $0) }
        if date == nil { add(name, "is not a date") }
        return (date, text ?? "")
    }

    mutating func bool(_ name: String, at place: Int?) -> Bool? {
        guard let value = present(name, place) else { return nil }
        if value.boolValue == nil { add(name, "is neither true nor false") }
        return value.boolValue
    }

    private mutating func present(_ name: String, _ place: Int?) -> ItemValue? {
        if let place, let reason = row.unreadable[place] {
            add(name, "is no JSON: \(reason)")
            return .none
        }
        guard let value = row.value(at: place), !value.isNull else { return .none }
        return value
    }

    private mutating func add(_ name: String, _ problem: String) {
        let error = SyncError(
            .unreadableResponse, "The server's row '\(id)' cannot be read: its '\(name)' \(problem).")
        problems.append(WireRow.Problem(column: name, error: error))
    }
}
