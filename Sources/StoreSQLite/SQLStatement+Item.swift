// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import GRDBSQLite
@_spi(StoreAuthor) import SyncCore

extension SQLStatement {
    /// Binds the columns of the item, null for missing fields; collects strings in `texts`.
    ///
    /// - Parameter oldFlags: the flags of the stored row, which are kept for hidden columns.
    func bind(_ item: Item, to table: ItemTable, keeping oldFlags: FieldFlags?, textsIn texts: RowTexts)
        throws
    {
        texts.removeAll()
        texts.add(item.id, at: 1)
        try bind(item.system.createdAt, at: 2, in: texts)
        try bind(item.system.updatedAt, at: 3, in: texts)
        try bind(item.system.version, at: 4, in: texts)
        if item.system.supersededVersions.isEmpty {
            try bindNull(at: 5)
        } else {
            let versions = ItemValue.array(item.system.supersededVersions.map(ItemValue.text))
            texts.add(versions.storedJSON, at: 5)
        }
        var flags = try bindFields(of: item, to: table, textsIn: texts)
        if let oldFlags { flags.add(table.hiddenColumns, of: oldFlags) }
        try bind(flags.text.isEmpty ? nil : flags.text, at: 6, in: texts)
        if item.system.undeclared.isEmpty {
            try bindNull(at: 7)
        } else {
            texts.add(ItemValue.object(item.system.undeclared).storedJSON, at: 7)
        }
    }

    private func bindFields(
        of item: Item, to table: ItemTable, textsIn texts: RowTexts
    ) throws -> FieldFlags {
        let columns = table.definition.columns
        var flags = FieldFlags()
        var boundCount = 0
        var index = ItemColumns.Position.firstField
        for (position, column) in columns.enumerated() {
            index += 1
            guard let value = item.content.value(of: column.name, near: position) else {
                try bindNull(at: index)
                continue
            }
            boundCount += 1
            switch (column.type, value) {
            case (_, .null):
                try bindNull(at: index)
                flags.addNull(column.name)
            case (.bool, .bool(let bool)): try bind(bool ? 1 : 0 as Int64, at: index)
            case (.integer, .int(let int)): try bind(int, at: index)
            case (.double, .double(let double)):
                try bind(double, at: index)
                if double == 0, double.sign == .minus { flags.addNegativeZero(column.name) }
            case (.text, .text(let text)): texts.add(text, at: index)
            case (.date, .date(let date)): texts.add(date, at: index)
            case (.data, .data(let data)): try bind(data, at: index)
            // The app reads and writes plain JSON.
            case (.json, _): texts.add(table.isShared ? value.json : value.storedJSON, at: index)
            default:
                throw StoreError(
                    .schemaMismatch,
                    "The value of the column '\(column.name)' does not have its type, \(column.type.rawValue)."
                )
            }
        }
        guard boundCount == item.content.count else {
            let names = Set(item.fields.keys).subtracting(columns.map(\.name)).sorted()
            throw StoreError(
                .schemaMismatch, "The table does not declare the columns \(names.joined(separator: ", ")).")
        }
        return flags
    }

    private func bind(_ text: String?, at index: Int32, in texts: RowTexts) throws(StoreError) {
        if let text { texts.add(text, at: index) } else { try bindNull(at: index) }
    }

    private func bind(_ date: Timestamp?, at index: Int32, in texts: RowTexts) throws(StoreError) {
        if let date { texts.add(date, at: index) } else { try bindNull(at: index) }
    }
}

extension SQLRow {
    /// Decodes the item of a row with the columns of ``ItemColumns``, then the given ones.
    ///
    /// - Throws: ``StoreError/Code/corrupt``, naming table, column and id, when a value cannot be decoded, or the id is not
    ///   text.
    func item(of table: ItemTable, columns: SelectedColumns) throws -> Item {
        try namingItem(of: table) { try item(id: $0, of: table, columns: columns) }
    }

    /// Decodes the row of ``item(of:columns:)`` into the values at these positions.
    func read(
        _ columns: [ColumnDefinition], of table: ItemTable, at positions: [Int?], into row: inout RowValues
    ) throws {
        try namingItem(of: table) { id in
            row.id = id
            for (offset, column) in columns.enumerated() {
                guard let position = positions[offset] else { continue }
                let index = ItemColumns.Position.firstField + Int32(offset)
                row.values[position] = try value(of: column, in: table, at: index) ?? .null
            }
            if let flags = try text("$marks", at: ItemColumns.Position.fieldFlags) {
                FieldFlags(flags).forEach { _ in
                } negativeZero: { name in
                    guard let offset = columns.firstIndex(where: { $0.name == name }),
                        let position = positions[offset], row.values[position] == .double(0)
                    else { return }
                    row.values[position] = .double(-0.0)
                }
            }
            row.system = try systemProperties()
        }
    }

    /// Calls the body with the id, and names table, column and id in the error of a value that cannot be decoded.
    private func namingItem<T>(of table: ItemTable, _ body: (String) throws -> T) throws -> T {
        let id = try id(of: table)
        do { return try body(id) } catch let error as UnreadableValue {
            throw StoreError(
                .corrupt,
                "The column '\(error.column)' of the item '\(id)' in '\(table.definition.name)' \(error.problem).",
                cause: error.cause)
        }
    }

    /// Returns the id. An app's column may contain ids that are not UTF-8 text; no lookup by a string finds such an item.
    private func id(of table: ItemTable) throws(StoreError) -> String {
        let index = ItemColumns.Position.id
        if storage(at: index) == SQLITE_TEXT, let id = try? text(at: index) { return id }
        throw StoreError(
            .corrupt,
            """
            The column 'id' of a row in '\(table.definition.name)' contains \(literal(at: index)), which is not UTF-8 text; \
            store ids as text. For a UUID in a record of GRDB, implement databaseUUIDEncodingStrategy(for:).
            """)
    }

    /// The value as an SQL literal. A long blob is cut off.
    private func literal(at index: Int32) -> String {
        switch storage(at: index) {
        case SQLITE_NULL: "NULL"
        case SQLITE_BLOB: blobLiteral(at: index)
        case SQLITE_TEXT: "CAST(\(blobLiteral(at: index)) AS TEXT)"
        default: schemaText(at: index) ?? ""
        }
    }

    private func blobLiteral(at index: Int32) -> String {
        withBlob(at: index) { bytes in
            let digits = bytes.prefix(64).map { String(0x100 + Int($0), radix: 16).dropFirst() }
            return "x'\(digits.joined())'"
        }
    }

    private func item(id: String, of table: ItemTable, columns: SelectedColumns) throws -> Item {
        var values: [ItemValue?] = []
        values.reserveCapacity(columns.definitions.count)
        var index = ItemColumns.Position.firstField
        for column in columns.definitions {
            values.append(try value(of: column, in: table, at: index))
            index += 1
        }
        var fields = ItemFields(columns.layout, values)
        if let flags = try text("$marks", at: ItemColumns.Position.fieldFlags) {
            apply(FieldFlags(flags), to: &fields, columns: columns)
        }
        return Item(id: id, content: fields, system: try systemProperties())
    }

    private func systemProperties() throws -> SystemProperties {
        SystemProperties(
            createdAt: try date("createdAt", at: ItemColumns.Position.createdAt),
            updatedAt: try date("updatedAt", at: ItemColumns.Position.updatedAt),
            version: try text("version", at: ItemColumns.Position.version),
            supersededVersions: try supersededVersions(), undeclared: try undeclared())
    }

    private func apply(_ flags: FieldFlags, to fields: inout ItemFields, columns: SelectedColumns) {
        flags.forEach { null in
            let name = String(null)
            // The app may have set the column since the flag was stored.
            if fields[name] == nil, columns.layout.position(of: name) != nil { fields[name] = .null }
        } negativeZero: { negativeZero in
            let name = String(negativeZero)
            if fields[name] == .double(0) { fields[name] = .double(-0.0) }
        }
    }

    /// Decodes a field; returns `nil` when the column is null.
    private func value(
        of column: ColumnDefinition, in table: ItemTable, at index: Int32
    ) throws -> ItemValue? {
        let storage = storage(at: index)
        switch (column.type, storage) {
        case (_, SQLITE_NULL): return nil
        case (.bool, SQLITE_INTEGER): return .bool(int(at: index) != 0)
        case (.integer, SQLITE_INTEGER): return .int(int(at: index))
        case (.double, SQLITE_FLOAT) where double(at: index).isFinite: return .double(double(at: index))
        case (.double, SQLITE_INTEGER) where Double(exactly: int(at: index)) != nil:
            return .double(double(at: index))
        case (.text, SQLITE_TEXT): return .text(try text(column.name, at: index) ?? "")
        case (.date, SQLITE_TEXT), (.date, SQLITE_INTEGER), (.date, SQLITE_FLOAT):
            return try date(column.name, at: index).map(ItemValue.date)
        case (.data, SQLITE_BLOB): return .data(data(at: index))
        case (.json, SQLITE_TEXT):
            do {
                return try withText(at: index) {
                    table.isShared ? try ItemValue(json: $0) : try ItemValue(storedJSON: $0)
                }
            } catch {
                throw UnreadableValue(
                    column: column.name, problem: "does not contain valid JSON", cause: error)
            }
        default:
            throw UnreadableValue(
                column: column.name, problem: "does not contain a value of type \(column.type.rawValue)")
        }
    }

    private func text(_ column: String, at index: Int32) throws(UnreadableValue) -> String? {
        do { return try text(at: index) } catch {
            throw UnreadableValue(column: column, problem: "does not contain valid UTF-8")
        }
    }

    private func date(_ column: String, at index: Int32) throws(UnreadableValue) -> Timestamp? {
        let date: Timestamp?
        switch storage(at: index) {
        case SQLITE_NULL: return nil
        case SQLITE_INTEGER, SQLITE_FLOAT: date = Timestamp(unixTime: double(at: index))
        case SQLITE_TEXT: date = withText(at: index) { Timestamp(sqliteText: $0) } ?? nil
        default: date = nil
        }
        guard let date else {
            throw UnreadableValue(column: column, problem: "does not contain a valid date")
        }
        return date
    }

    private func supersededVersions() throws -> [String] {
        let index = ItemColumns.Position.supersededVersions
        guard storage(at: index) != SQLITE_NULL else { return [] }
        let stored = withText(at: index) { try? ItemValue(storedJSON: $0) } ?? nil
        guard case .array(let versions)? = stored else {
            throw UnreadableValue(
                column: "$supersededVersions", problem: "does not contain the expected JSON")
        }
        return versions.compactMap(\.textValue)
    }

    private func undeclared() throws -> [String: ItemValue] {
        let index = ItemColumns.Position.undeclared
        guard storage(at: index) != SQLITE_NULL else { return [:] }
        let stored = withText(at: index) { try? ItemValue(storedJSON: $0) } ?? nil
        guard case .object(let undeclared)? = stored else {
            throw UnreadableValue(column: "$undeclared", problem: "does not contain the expected JSON")
        }
        return undeclared
    }
}

/// A column value that cannot be decoded.
private struct UnreadableValue: Error {
    let column: String
    let problem: String
    var cause: (any Error)?
}
