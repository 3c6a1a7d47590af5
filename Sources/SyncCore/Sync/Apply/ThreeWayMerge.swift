// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A three-way merge of one item by fields, for a conflict: which fields each side has changed since the base.
package struct ThreeWayMerge {
    private let local: Item
    private let server: Item
    private let localChanges: Set<String>
    private let serverChanges: Set<String>
    /// The fields that both sides have changed to different values.
    package let clashes: Set<String>

    /// Compares both sides with the base. Without a base, every field of the local item counts as changed locally.
    ///
    /// Servers round values, see ``ItemValue/isShown(as:)``. A field counts as changed by the server if the
    /// server's value cannot be the stored form of the base's value; it clashes if it cannot be the stored
    /// form of the local value either.
    ///
    /// - Parameter localOnlyColumns: columns whose values on the server do not count.
    package init(local: Item, server: Item, base: Item?, localOnlyColumns: Set<String>) {
        self.local = local
        self.server = server
        func isShown(_ item: Item?, as shown: Item?, _ name: String) -> Bool {
            value(item, name).isShown(as: value(shown, name))
        }
        func value(_ item: Item?, _ name: String) -> ItemValue {
            item?.shownValue(ofColumn: name, localOnlyColumns: localOnlyColumns) ?? .null
        }
        let baseFields = base?.fields ?? [:]
        let names = Set(local.fields.keys).union(baseFields.keys)
        let serverChanges = names.filter { !isShown(base, as: server, $0) }
        let localChanges = names.filter { name in
            // An old copy of the item may still have the value as it was before the server rounded it.
            local.differs(in: name, from: baseFields)
                && !(serverChanges.contains(name) && isShown(local, as: base, name))
        }
        (self.serverChanges, self.localChanges) = (serverChanges, localChanges)
        clashes = localChanges.filter { serverChanges.contains($0) && !isShown(local, as: server, $0) }
    }

    /// Whether both sides have changed a field to different values.
    var hasClash: Bool { !clashes.isEmpty }

    /// Whether both sides have changed the field, to different values or to the same one.
    package func isChangedTwice(_ name: String) -> Bool {
        localChanges.contains(name) && serverChanges.contains(name)
    }

    /// Returns the server's row with the local changes; fields that clash have the value of the preferred side.
    package func item(preferringLocal: Bool) -> Item {
        var merged = server
        for name in localChanges where preferringLocal || !clashes.contains(name) {
            merged.content[name] = local.content[name] ?? .null
        }
        return merged
    }
}

extension Item {
    /// Returns the server's row with the fields that the user has changed locally since the common ancestor.
    ///
    /// Local changes always win: they are newer than the row, and still pending. Local-only columns and columns that the
    /// row lacks keep their local values.
    ///
    /// - Parameters:
    ///   - local: the item on the device; `nil` returns the row as it is.
    ///   - ancestor: the fields that both sides had last.
    func merged(
        over local: Item?, ancestor: [String: ItemValue], definition: SyncTableDefinition
    ) -> Item {
        guard let local else { return self }
        return keepingLocalColumns(of: local, definition: definition)
            .changed(as: local, since: ancestor, definition: definition)
    }

    /// Returns the item with the fields of the local item that differ from those of the ancestor.
    func changed(
        as local: Item, since ancestor: [String: ItemValue], definition: SyncTableDefinition
    ) -> Item {
        var changed = self
        for column in definition.columns where local.differs(in: column.name, from: ancestor) {
            changed.content[column.name] = local.content[column.name]
        }
        return changed
    }

    /// Whether the field is not what it is in the base; a missing field equals null.
    fileprivate func differs(in name: String, from base: [String: ItemValue]) -> Bool {
        (content[name] ?? .null) != (base[name] ?? .null)
    }
}
