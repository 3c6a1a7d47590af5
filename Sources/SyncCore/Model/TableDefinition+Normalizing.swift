// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

extension TableDefinition {
    /// The fields of a local write, each converted to its column's type.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidItem`` for an undeclared column, a value that does
    ///   not fit its column, NaN or an infinity.
    func normalizedForWriting(_ fields: [String: ItemValue]) throws(SyncError) -> [String: ItemValue] {
        // Nearly always there is nothing to convert, and the fields are returned as they came.
        var result = fields
        for (name, value) in fields {
            guard let column = column(named: name) else {
                let why = SystemProperties.names.contains(name) ? "is kept by the server" : "is not declared"
                throw SyncError(.invalidItem, "The column '\(name)' of the table '\(self.name)' \(why).")
            }
            if !column.type.holds(value) { result[name] = try normalized(value, for: column) }
        }
        return result
    }

    /// Whether there is a declared column of that name that is not local-only.
    func syncs(_ name: String) -> Bool { column(named: name)?.isLocalOnly == false }

    /// What a server's row has beside its synced columns: see ``SystemProperties/undeclared``.
    func undeclared(in fields: [String: ItemValue]) -> [String: ItemValue] {
        fields.filter { !syncs($0.key) }
    }

    /// The fields of a server's row: undeclared and local-only columns are left out, the others converted.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidItem`` for a value that does not fit its column.
    func normalizedFromServer(_ fields: [String: ItemValue]) throws(SyncError) -> [String: ItemValue] {
        try normalizedFromServer { fields[columns[$0].name] }
    }

    /// - Parameter value: the row's value for the column of that index, or `nil` when there is none.
    func normalizedFromServer(_ value: (Int) -> ItemValue?) throws(SyncError) -> [String: ItemValue] {
        var result = [String: ItemValue](minimumCapacity: columns.count)
        for (index, column) in columns.enumerated() where !column.isLocalOnly {
            if let value = value(index) { result[column.name] = try normalized(value, for: column) }
        }
        return result
    }

    private func normalized(_ value: ItemValue, for column: Column) throws(SyncError) -> ItemValue {
        guard let converted = column.type.converting(value) else {
            throw SyncError(
                .invalidItem,
                "The column '\(column.name)' of the table '\(name)' holds \(column.type.rawValue) values; "
                    + "it cannot hold \(value.typeName).")
        }
        return converted
    }
}

// `ItemValue` is itself expressible by `nil`: where a value stands beside it, only `.none` is no value.

extension ColumnType {
    /// Whether a column of this type can hold the value as it is.
    fileprivate func holds(_ value: ItemValue) -> Bool {
        switch (self, value) {
        case (_, .null), (.bool, .bool), (.integer, .int), (.text, .text), (.date, .date), (.data, .data):
            true
        case (.double, .double(let double)): double.isFinite
        default: false
        }
    }

    /// The value as this type, when nothing of it is lost; `nil` otherwise.
    fileprivate func converting(_ value: ItemValue) -> ItemValue? {
        if holds(value) { return value }
        return switch (self, value) {
        case (.integer, .double(let double)): Int64(exactly: double).map(ItemValue.int)
        case (.double, .int(let int)): Double(exactly: int).map(ItemValue.double)
        case (.date, .text(let text)): Timestamp(text).map(ItemValue.date)
        case (.data, .text(let text)): Data(base64Encoded: text).map(ItemValue.data)
        case (.json, _): value.plainJSON(depth: 0)
        default: nil
        }
    }
}

extension ItemValue {
    /// The value as JSON can hold it, dates and binary data as text, so that it comes back from a server equal;
    /// `nil` when a number is not finite or the nesting is deeper than JSON readers accept.
    fileprivate func plainJSON(depth: Int) -> ItemValue? {
        guard depth < JSONParser.maxDepth / 2 else { return nil }
        switch self {
        case .null, .bool, .int, .text: return self
        case .double(let double): return double.isFinite ? self : .none
        case .date(let date): return .text(date.description)
        case .data(let data): return .text(data.base64EncodedString())
        case .array(let values):
            let plain = values.compactMap { $0.plainJSON(depth: depth + 1) }
            return plain.count == values.count ? .array(plain) : .none
        case .object(let fields):
            let plain = fields.compactMapValues { $0.plainJSON(depth: depth + 1) }
            return plain.count == fields.count ? .object(plain) : .none
        }
    }

    fileprivate var typeName: String {
        switch self {
        case .null: "null"
        case .bool: "a Boolean"
        case .int(let int): "the integer \(int)"
        case .double(let double): "the number \(double)"
        case .text: "this text"
        case .date: "a date"
        case .data: "binary data"
        case .array: "a list"
        case .object: "an object"
        }
    }
}
