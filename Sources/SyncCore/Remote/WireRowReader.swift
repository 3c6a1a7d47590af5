// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Reads rows: see ``WireRow/init(_:version:dialect:definition:)``. Where a row has what, it finds out once for all
/// rows with the same names.
struct WireRowReader {
    private let systemNames: WireDialect.SystemNames
    private let definition: TableDefinition?
    private var places: Places

    init(dialect: WireDialect, definition: TableDefinition?) {
        systemNames = dialect.systemNames
        self.definition = definition
        places = Places(WireObject.Names([]), systemNames, definition)
    }

    /// - Throws: as ``WireRow/init(_:version:dialect:definition:)``.
    mutating func read(_ row: WireObject, version: String? = nil) throws(SyncError) -> WireRow {
        if row.names !== places.names { places = Places(row.names, systemNames, definition) }
        guard let id = row.value(at: places.id)?.textValue else {
            throw SyncError(.expectedItemInResponse, "The server's row has no id, or one that is no text.")
        }
        try ItemID.validate(id)
        let reader = SystemPropertyReader(row: row, id: id)
        let createdAt = try reader.date(systemNames.createdAt, at: places.createdAt)
        let updatedAt = try reader.date(systemNames.updatedAt, at: places.updatedAt)
        let rowVersion = try reader.text(systemNames.version, at: places.version)
        let deleted = try reader.bool(systemNames.deleted, at: places.deleted) ?? false
        let item = Item(
            id: id, fields: try fields(of: row),
            system: SystemProperties(
                createdAt: createdAt?.value, updatedAt: updatedAt?.value,
                version: version ?? rowVersion.flatMap { $0.isEmpty ? nil : $0 }, deleted: deleted,
                undeclared: undeclared(in: row)))
        return WireRow(item: item, updatedAtText: updatedAt?.text)
    }

    private func undeclared(in row: WireObject) -> [String: ItemValue] {
        var undeclared: [String: ItemValue] = [:]
        for place in places.undeclared { undeclared[row.names.texts[place]] = row.values[place] }
        return undeclared
    }

    private func fields(of row: WireObject) throws(SyncError) -> [String: ItemValue] {
        if let definition {
            return try definition.normalizedFromServer { row.value(at: places.columns[$0]) }
        }
        var fields = row.fields
        for name in systemNames.all + ["id"] { fields[name] = nil }
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

    init(_ names: WireObject.Names, _ system: WireDialect.SystemNames, _ definition: TableDefinition?) {
        func place(_ name: String) -> Int? { names.texts.firstIndex(of: name) }
        self.names = names
        id = place("id")
        createdAt = place(system.createdAt)
        updatedAt = place(system.updatedAt)
        version = place(system.version)
        deleted = place(system.deleted)
        columns = definition?.columns.map { place($0.name) } ?? []
        let system = ["id"] + system.all
        undeclared = names.texts.indices.filter { index in
            guard let definition else { return false }
            let name = names.texts[index]
            return !system.contains(name) && !definition.syncs(name)
        }
    }
}

extension WireObject {
    fileprivate func value(at place: Int?) -> ItemValue? { place.map { values[$0] } }
}

/// Reads the system properties of one row; missing and null are alike.
private struct SystemPropertyReader {
    let row: WireObject
    let id: String

    func text(_ name: String, at place: Int?) throws(SyncError) -> String? {
        guard let value = present(place) else { return nil }
        guard let text = value.textValue else { throw error(name, "is not a text") }
        return text
    }

    func date(_ name: String, at place: Int?) throws(SyncError) -> (value: Timestamp, text: String)? {
        guard let text = try text(name, at: place) else { return nil }
        guard let value = Timestamp(text) else { throw error(name, "is not a date") }
        return (value, text)
    }

    func bool(_ name: String, at place: Int?) throws(SyncError) -> Bool? {
        guard let value = present(place) else { return nil }
        guard let bool = value.boolValue else { throw error(name, "is neither true nor false") }
        return bool
    }

    private func present(_ place: Int?) -> ItemValue? {
        guard let value = row.value(at: place), !value.isNull else { return .none }
        return value
    }

    private func error(_ name: String, _ problem: String) -> SyncError {
        SyncError(.unreadableResponse, "The server's row '\(id)' cannot be read: its '\(name)' \(problem).")
    }
}
