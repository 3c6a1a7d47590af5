// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension Item {
    /// The server's row joined with what the device has and the server's row does not say.
    ///
    /// A three-way merge, field by field: where the local field is still what it was in the common ancestor, the
    /// server's is taken; where the user has changed it since, the user's stays. Local-only columns and columns that the
    /// server's row lacks keep their local values.
    ///
    /// - Parameters:
    ///   - local: the row as it is on the device; `nil` takes the server's.
    ///   - ancestor: the fields that both sides had last.
    func merged(
        over local: Item?, ancestor: [String: ItemValue], definition: SyncTableDefinition
    ) -> Item {
        guard let local else { return self }
        var merged = self
        for column in definition.columns {
            let name = column.name
            let isUntouched = (local.fields[name] ?? .null) == (ancestor[name] ?? .null)
            if column.isLocalOnly || fields[name] == nil || !isUntouched {
                merged.fields[name] = local.fields[name]
            }
        }
        return merged
    }

    /// The server's row with the local-only columns of the row on the device.
    func keepingLocalColumns(of local: Item?, definition: SyncTableDefinition) -> Item {
        merged(over: local, ancestor: local?.fields ?? [:], definition: definition)
    }
}
