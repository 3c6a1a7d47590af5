// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

// An app may change its own table so that values of the server's rows are gone: it drops a column and adds it again, or
// rebuilds the table. An item without such a value is no edit, and a request that replaces the whole row must not remove the
// value from the server.

/// The values that the app has removed from a table since the store was last open.
@_spi(StoreAuthor)
public struct LostValues: Sendable, Hashable {
    /// The synced columns, present or former, without values.
    public var columns: Set<String>
    /// Whether ``SystemProperties/undeclared`` is missing.
    public var hasLostUndeclared: Bool
    /// Whether other system properties are missing.
    public var hasLostSystem: Bool

    /// Makes a description of lost values; the default is none.
    public init(
        columns: Set<String> = [], hasLostUndeclared: Bool = false, hasLostSystem: Bool = false
    ) {
        self.columns = columns
        self.hasLostUndeclared = hasLostUndeclared
        self.hasLostSystem = hasLostSystem
    }

    /// Whether nothing is lost.
    public var isEmpty: Bool { columns.isEmpty && !hasLostUndeclared && !hasLostSystem }
}

/// What the operations of a table know of the lost values of their items.
struct KnownValues {
    private let lost: LostValues
    /// The lost columns that were not synced before. Their values in the server's rows are undeclared values.
    private let added: Set<String>
    private var rows: [UTF8Text: Row] = [:]
    /// The columns whose values in the server's row are unknown if an item of ``withoutBase`` does not have them as fields.
    private let unknownColumns: [String]
    /// The items with an update without a base: a missing field would count as removed by the user, and the value of a removed
    /// column as the server's.
    private let withoutBase: Set<UTF8Text>
    private let inserted: Set<UTF8Text>

    private struct Row {
        /// The newest known fields: the server's, and those that were sent.
        var fields: [String: ItemValue] = [:]
        var system = SystemProperties()
        var hasBase = false
    }

    /// - Parameter operations: the operations in the order of their ids.
    init(
        _ operations: [TableOperation], of lost: LostValues, added: [SyncColumn], unknown columns: [String]
    ) {
        self.lost = lost
        self.added = Set(added.map(\.name))
        unknownColumns = columns
        inserted = Set(operations.filter { $0.kind == .insert }.map { UTF8Text($0.itemID) })
        withoutBase = Set(operations.filter(\.hasUnknownBase).map { UTF8Text($0.itemID) })
        guard !lost.isEmpty else { return }
        for operation in operations where operation.kind != .delete {
            let id = UTF8Text(operation.itemID)
            var row = rows[id] ?? Row()
            if let base = operation.base {
                row.fields.merge(base.system.undeclared.merging(base.fields) { $1 }) { $1 }
                row.hasBase = true
                if row.system.version == nil { row.system = base.system }
            }
            if row.system.version == nil { row.system.version = operation.version }
            row.fields.merge(operation.sent?.fields ?? [:]) { $1 }
            rows[id] = row
        }
    }

    /// Returns the known value of a lost column, or `nil` if it is unknown. A missing value is null.
    func value(of column: String, itemID: String) -> ItemValue? {
        guard let row = rows[UTF8Text(itemID)] else { return nil }
        if let known = row.fields[column] { return known }
        return row.hasBase ? .some(.null) : .none
    }

    /// Whether an insert of the item is pending, so that it has no values of the server.
    func isInserted(_ item: Item) -> Bool { inserted.contains(UTF8Text(item.id)) }

    /// Returns the item with the known values, and with a record of the others.
    func restored(_ item: Item, _ definition: SyncTableDefinition) -> Item {
        var restored = item
        if withoutBase.contains(UTF8Text(item.id)) {
            for name in unknownColumns where !definition.syncs(name) || item.content[name] == nil {
                restored.system.lostValues[name] = .null
            }
        }
        guard !lost.isEmpty else { return restored }
        let known = rows[UTF8Text(item.id)]
        if let row = known {
            if lost.hasLostSystem, item.system.version == nil {
                let undeclared = restored.system.undeclared
                restored.system = row.system
                restored.system.undeclared = undeclared
            }
            if lost.hasLostUndeclared { restored.system.undeclared.merge(row.system.undeclared) { $1 } }
        }
        var unknown = restored.system.lostValues
        if lost.hasLostUndeclared, known?.hasBase != true {
            unknown[SystemProperties.allUndeclared] = .null
        }
        if lost.hasLostSystem, known == nil { unknown[SystemProperties.lostVersion] = .null }
        for name in lost.columns {
            let value = value(of: name, itemID: item.id)
            if definition.syncs(name) {
                if let value, !value.isNull || restored.content[name] != nil {
                    restored.content[name] = definition.normalizedFromServer(value, in: name)
                }
            } else if let value, restored.system.undeclared[name] == nil {
                restored.system.undeclared[name] = value
            }
            if value == nil, !added.contains(name) { unknown[name] = restored.content[name] ?? .null }
        }
        // Otherwise the server does not have the row.
        if !restored.system.isUnknown || unknown[SystemProperties.lostVersion] != nil {
            restored.system.lostValues = unknown
        }
        return restored
    }
}

extension TableOperation {
    /// Removes the lost values that the item does not have after the migration, so that their absence is no edit.
    mutating func removeLostValues(
        _ lost: LostValues, missingIn item: Item, known: KnownValues, _ definition: SyncTableDefinition
    ) {
        for name in lost.columns where definition.syncs(name) {
            guard let value = known.value(of: name, itemID: itemID) else { continue }
            let restored = definition.normalizedFromServer(value, in: name) ?? .null
            guard (item.content[name] ?? .null) != restored else { continue }
            if var base {
                base.system.undeclared[name] = base.content[name] ?? base.system.undeclared[name]
                base.content[name] = item.content[name]
                self.base = base
            }
            sent?.fields[name] = nil
        }
    }
}

extension SystemProperties {
    /// The name in ``undeclared`` of the record of lost values. No column has it.
    static let lostValuesName = "$lost"
    /// The name in the record that stands for all undeclared columns.
    static let allUndeclared = "*"
    /// The name in the record that stands for the version and the dates.
    static let lostVersion = "version"

    /// The columns whose values in the server's row are unknown, because the app has removed them from its table, with the
    /// item's values at that time. The next state of the row that is received ends the record.
    var lostValues: [String: ItemValue] {
        get { if case .object(let values)? = undeclared[Self.lostValuesName] { values } else { [:] } }
        set { undeclared[Self.lostValuesName] = newValue.isEmpty ? .none : .object(newValue) }
    }

    /// Whether the version and the dates are lost values.
    var hasLostVersion: Bool { lostValues[Self.lostVersion] != nil }

    /// The values of the server's row in ``undeclared``, without the record.
    package var undeclaredValues: [String: ItemValue] {
        undeclared.filter { $0.key != Self.lostValuesName }
    }
}
