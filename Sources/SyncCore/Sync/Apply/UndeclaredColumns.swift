// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

// Apps and delegates pass rows without the columns that the app does not declare. In a dialect whose updates replace the
// whole row, the next update would remove them from the server.

extension Item {
    /// Returns the row with the undeclared columns of the known state that has its version, if it has none itself.
    func addingUndeclaredColumns(of known: [Item?]) -> Item {
        guard system.undeclared.isEmpty, let version = system.version,
            let state = known.compactMap(\.self).first(where: {
                $0.system.version?.hasSameBytes(as: version) == true
            })
        else { return self }
        var row = self
        row.system.undeclared = state.system.undeclared
        return row
    }
}
