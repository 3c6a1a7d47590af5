// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

// Apps and delegates pass rows without the columns that the app does not declare. In a dialect whose updates replace the
// whole row, the next update would remove them from the server.

extension Item {
    /// Returns the row with the undeclared columns of the known state that has its version, if it has none itself. Without
    /// such a state they are recorded as lost, so that the next update fetches the row.
    func addingUndeclaredColumns(of known: [Item?], for dialect: WireDialect) -> Item {
        guard dialect.updatesWholeRow, system.undeclared.isEmpty, let version = system.version else {
            return self
        }
        var row = self
        let state = known.compactMap(\.self).first { $0.system.version?.hasSameBytes(as: version) == true }
        if let state {
            row.system.undeclared = state.system.undeclared
        } else {
            row.system.lostValues = [SystemProperties.allUndeclared: .null]
        }
        return row
    }
}
