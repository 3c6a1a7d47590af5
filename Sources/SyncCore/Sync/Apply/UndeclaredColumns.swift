// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension Item {
    /// Returns the row with null for the undeclared columns that the former state of the item had and the row lacks.
    ///
    /// The store's file keeps the values of columns that are no longer synced. Without the null, a column that is synced again
    /// would have such a value, although the server does not. If it is unknown which columns the row has, nothing is
    /// recorded.
    func recordingRemovedColumns(of former: Item?, definition: SyncTableDefinition) -> Item {
        guard let former = former?.system.undeclaredValues, !former.isEmpty, system.lostValues.isEmpty else {
            return self
        }
        var row = self
        for name in former.keys
        where system.undeclared[name] == nil && !definition.syncs(name) {
            // Servers ignore case in column names.
            let lowercased = name.lowercased()
            guard !system.undeclared.keys.contains(where: { $0.lowercased() == lowercased }) else { continue }
            row.system.undeclared[name] = .null
        }
        return row
    }

    /// Returns the item with the row's values of columns that were declared when the user changed them: these edits are not sent
    /// any more.
    fileprivate func withoutUndeclaredEdits(since base: Item, definition: SyncTableDefinition) -> Item {
        let row = base.recordingRemovedColumns(of: self, definition: definition).system
        guard system.undeclaredValues != row.undeclaredValues, row.lostValues.isEmpty else { return self }
        var item = self
        item.system.undeclared = row.undeclared
        item.system.lostValues = system.lostValues
        return item
    }

    /// Returns the row with the undeclared columns of the known state that has its version, if it has none itself. Without
    /// such a state they are recorded as lost, so that the next update fetches the row.
    ///
    /// Apps and delegates pass rows without the columns that the app does not declare. In a dialect whose updates replace the
    /// whole row, the next update would remove them from the server.
    func addingUndeclaredColumns(of known: [Item?], for dialect: WireDialect) -> Item {
        guard dialect.updatesWholeRow, let version = system.version,
            system.undeclared.allSatisfy(\.value.isNull)
        else { return self }
        var row = self
        let state = known.compactMap(\.self).first { $0.system.version?.hasSameBytes(as: version) == true }
        if let state {
            row.system.undeclared = state.system.undeclared
        } else {
            row.system.undeclared = [:]
            row.system.lostValues = [SystemProperties.allUndeclared: .null]
        }
        return row
    }
}

extension StoreTransaction {
    /// Removes the item's edits of columns that are no longer synced.
    ///
    /// - Parameter sent: an attempt that the server may have applied: what it has sent stays, because it is sent again.
    func removeUndeclaredEdits(
        of item: Item, since base: Item, sent: TableOperation.SentSnapshot? = nil,
        definition: SyncTableDefinition
    ) throws {
        var base = base
        for (name, value) in sent?.fields ?? [:] where item.system.undeclaredValues[name] != nil {
            base.system.undeclared[name] = value
        }
        let unedited = item.withoutUndeclaredEdits(since: base, definition: definition)
        if unedited != item { try upsert([unedited], in: definition.name) }
    }
}
