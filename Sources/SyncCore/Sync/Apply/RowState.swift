// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension Item {
    /// Whether both are the same state of one server row: same version, same `updatedAt`.
    ///
    /// The version alone does not identify a state: versions restart when a row is deleted for good and inserted again.
    func isSameState(as other: Item) -> Bool {
        guard let version = system.version, let otherVersion = other.system.version else {
            return self == other
        }
        return version.hasSameBytes(as: otherVersion) && system.deleted == other.system.deleted
            && system.updatedAt.canEqual(other.system.updatedAt)
    }

    /// Whether the server changed the row to this state after the other one; `false` when either has no `updatedAt`.
    func isLater(than other: Item) -> Bool {
        guard let updatedAt = system.updatedAt, let otherUpdatedAt = other.system.updatedAt else {
            return false
        }
        return otherUpdatedAt.isEarlier(than: updatedAt)
    }
}

extension Timestamp? {
    /// Whether both can be the same instant, shown with different numbers of fraction digits. A missing one equals any.
    fileprivate func canEqual(_ other: Timestamp?) -> Bool {
        guard let self, let other else { return true }
        let digits = Int(Swift.min(self.fractionDigits, other.fractionDigits))
        return self.showing(fractionDigits: digits).isSameInstant(as: other.showing(fractionDigits: digits))
    }
}
