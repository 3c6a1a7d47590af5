// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// One row of a table: an id, fields and system properties.
public struct Item: Sendable, Hashable, Identifiable {
    /// The id, unique within the table and compared byte for byte.
    public let id: String
    /// Version, times and tombstone flag, as the server last returned them.
    public var system: SystemProperties
    /// The fields as they are kept; reading one of them makes no dictionary.
    package var content: ItemFields

    /// The fields, without the id and the system properties. A missing field differs from a null field.
    ///
    /// An item of a store makes this dictionary each time. The subscripts read and change one field without it.
    public var fields: [String: ItemValue] {
        get { content.byName }
        _modify { yield &content.byName }
    }

    /// Makes an item. It is validated when it is written.
    public init(
        id: String, fields: [String: ItemValue] = [:], system: SystemProperties = SystemProperties()
    ) {
        self.init(id: id, content: ItemFields(fields), system: system)
    }

    package init(id: String, content: ItemFields, system: SystemProperties = SystemProperties()) {
        self.id = id
        self.content = content
        self.system = system
    }

    /// The field of that name, or `nil` when it is missing.
    ///
    /// Reading also returns `id`, `createdAt`, `updatedAt`, `version` and `deleted`. These are not fields of the row and
    /// cannot be changed: a value assigned to one of them is kept in ``fields``, where the next write of the item refuses
    /// it with ``SyncError/Code/invalidItem`` or ``SyncError/Code/invalidItemID``. Assigning the item's own id does
    /// nothing.
    public subscript(name: String) -> ItemValue? {
        get {
            switch name {
            case "id": .text(id)
            case "createdAt": system.createdAt.map(ItemValue.date)
            case "updatedAt": system.updatedAt.map(ItemValue.date)
            case "version": system.version.map(ItemValue.text)
            case "deleted": .bool(system.deleted)
            default: content[name]
            }
        }
        set {
            let isField = Self.isField(name)
            if !isField, newValue == self[name] { return }
            content[name] = isField ? newValue : newValue ?? .null
        }
    }

    /// Whether a value of that name is a field, and not the id or a system property.
    static func isField(_ name: String) -> Bool { name != "id" && !SystemProperties.names.contains(name) }

    /// The field of that column, or `nil` when it is missing.
    public subscript(column: SyncColumn) -> ItemValue? {
        get { self[column.name] }
        set { self[column.name] = newValue }
    }

    /// Compares ids byte for byte, fields and system properties.
    public static func == (left: Item, right: Item) -> Bool {
        left.id.hasSameBytes(as: right.id) && left.content == right.content && left.system == right.system
    }
}
