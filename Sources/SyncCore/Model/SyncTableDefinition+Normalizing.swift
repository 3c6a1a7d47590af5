// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

extension SyncTableDefinition {
    /// The fields of a local write, each converted to its column's type.
    ///
    /// - Parameter skipsID: whether the fields may have an `id`, which the caller reads.
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidItem`` for an undeclared column, a value that does
    ///   not fit its column, NaN or an infinity.
    func normalizedForWriting(
        _ fields: ItemFields, skipsID: Bool = false
    ) throws(SyncError) -> ItemFields {
        var values = [ItemValue?](repeating: .none, count: columns.count)
        try fields.forEach { name, value throws(SyncError) in
            guard let position = position(ofColumn: name) else {
                if skipsID, name == "id" { return }
                throw notWritable(name)
            }
            values[position] = try normalized(value, for: columns[position])
        }
        return ItemFields(layout, values)
    }

    private func notWritable(_ column: String) -> SyncError {
        let reason: String
        if column == "id" {
            reason = "cannot be changed."
        } else if SystemProperties.names.contains(column) {
            reason = "is set by the server."
        } else if columns.isEmpty {
            reason = "is not declared. No columns are declared."
        } else {
            let declared = columns.map { "'\($0.name)'" }.joined(separator: ", ")
            reason = "is not declared. The declared columns are \(declared)."
        }
        return SyncError(.invalidItem, "The column '\(column)' of the table '\(name)' \(reason)")
    }

    /// Whether the column is declared and not local-only.
    func syncs(_ name: String) -> Bool { column(named: name)?.isLocalOnly == false }

    /// The fields of a server's row that are not synced columns: see ``SystemProperties/undeclared``.
    func undeclared(in fields: [String: ItemValue]) -> [String: ItemValue] {
        fields.filter { !syncs($0.key) }
    }

    /// The synced columns of a server's row, converted to their types.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidItem`` for a value that does not fit its column.
    func normalizedFromServer(_ fields: [String: ItemValue]) throws(SyncError) -> ItemFields {
        var problem: SyncError?
        let result = normalizedFromServer {
            fields[columns[$0].name]
        } orElse: { _, error in
            problem = problem ?? error
        }
        if let problem { throw problem }
        return result
    }

    /// The value of a server's row converted to the type of its column; `nil` if it does not fit, or the column is not synced.
    func normalizedFromServer(_ value: ItemValue, in column: String) -> ItemValue? {
        guard let column = self.column(named: column), !column.isLocalOnly else { return .none }
        return column.type.convertingFromServer(value)
    }

    /// The synced columns of a server's row, converted to their types, without values that do not fit.
    ///
    /// - Parameters:
    ///   - value: returns the row's value for the column at that index, or `nil`.
    ///   - report: receives the name and error of each column whose value does not fit.
    func normalizedFromServer(
        _ value: (Int) -> ItemValue?, orElse report: (_ column: String, SyncError) -> Void
    ) -> ItemFields {
        var values = [ItemValue?](repeating: .none, count: columns.count)
        for (index, column) in columns.enumerated() where !column.isLocalOnly {
            guard let value = value(index) else { continue }
            if let converted = column.type.convertingFromServer(value) {
                values[index] = converted
            } else {
                report(column.name, misfit(value, column))
            }
        }
        return ItemFields(layout, values)
    }

    private func normalized(_ value: ItemValue, for column: SyncColumn) throws(SyncError) -> ItemValue {
        guard let converted = column.type.converting(value) else { throw misfit(value, column) }
        return converted
    }

    private func misfit(_ value: ItemValue, _ column: SyncColumn) -> SyncError {
        let reason =
            column.type == .json
            ? "a value that is nested in \(ColumnType.maxJSONDepth) levels, or has a number that is not finite"
            : value.typeName
        return SyncError(
            .invalidItem,
            "The column '\(column.name)' of the table '\(name)' holds \(column.type.rawValue) values; "
                + "it cannot hold \(reason).")
    }
}

// `ItemValue` is expressible by `nil`, so a missing optional value is written as `.none`.

extension ColumnType {
    /// The level of nesting from which on JSON readers may refuse a row.
    fileprivate static let maxJSONDepth = JSONParser.maxDepth / 2

    /// Whether the value has this type or is null.
    fileprivate func holds(_ value: ItemValue) -> Bool {
        switch (self, value) {
        case (_, .null), (.bool, .bool), (.integer, .int), (.text, .text), (.date, .date), (.data, .data):
            true
        case (.double, .double(let double)): double.isFinite
        default: false
        }
    }

    /// Converts a server's value to this type; `nil` when it does not fit.
    ///
    /// JavaScript servers store numbers as doubles and print the shortest decimal that identifies the double, so an
    /// integer is read as the nearest double. Some servers omit the padding of base64.
    fileprivate func convertingFromServer(_ value: ItemValue) -> ItemValue? {
        if let converted = converting(value) { return converted }
        return switch (self, value) {
        case (.double, .int(let int)): .double(Double(int))
        case (.date, .text(let text)): Timestamp(serverText: text).map(ItemValue.date)
        case (.data, .text(let text)): Data(unpaddedBase64: text).map(ItemValue.data)
        default: .none
        }
    }

    /// Converts the value to this type without loss; `nil` when that is impossible.
    package func converting(_ value: ItemValue) -> ItemValue? {
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
    /// Returns an undeclared value of a server's row as one of the same type as another value, if it can be read so.
    func read(like other: ItemValue) -> ItemValue {
        switch other {
        case .date: ColumnType.date.convertingFromServer(self) ?? self
        case .data: ColumnType.data.convertingFromServer(self) ?? self
        default: self
        }
    }

    /// Converts dates and binary data inside a JSON value to text, so that a server returns an equal value; `nil` when a
    /// number is not finite or the nesting is too deep for JSON readers.
    fileprivate func plainJSON(depth: Int) -> ItemValue? {
        guard depth < ColumnType.maxJSONDepth else { return nil }
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

    /// The kind of the value, without the value, which must not be in messages.
    fileprivate var typeName: String {
        switch self {
        case .null: "null"
        case .bool: "a Boolean"
        case .int: "an integer"
        case .double(let double):
            if !double.isFinite {
                "a number that is not finite"
            } else if Int64(exactly: double) == nil {
                "a number that is not a 64-bit integer"
            } else {
                "a number"
            }
        case .text: "this string"
        case .date: "a date"
        case .data: "binary data"
        case .array: "a list"
        case .object: "an object"
        }
    }
}

extension Timestamp {
    /// Reads a server's date. A leap second is read as the following second, as POSIX time counts it.
    init?(serverText text: String) {
        if let timestamp = Timestamp(text) {
            self = timestamp
            return
        }
        let leap = text.utf8.dropFirst(16).prefix(3)
        guard leap.elementsEqual(":60".utf8),
            let second = Timestamp(String(text.prefix(16)) + ":59" + String(text.dropFirst(19)))
        else { return nil }
        self = second.advanced(by: .seconds(1))
    }
}

extension Data {
    /// Decodes base64 text without padding.
    fileprivate init?(unpaddedBase64 text: String) {
        let rest = text.utf8.count % 4
        guard rest > 1 else { return nil }
        self.init(base64Encoded: text + String(repeating: "=", count: 4 - rest))
    }
}
