// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension Item {
    /// Whether both are the same state of one server row: same version, same `updatedAt`; if either has none, same
    /// `createdAt`; if either has none and only one has an `updatedAt`, the same values in the columns of both.
    ///
    /// The version alone does not identify a state: versions restart when a row is deleted for good and inserted again, and
    /// the row before can be one without times.
    func isSameState(as other: Item) -> Bool {
        guard let version = system.version, let otherVersion = other.system.version else {
            return self == other || isSameStateWithoutVersion(as: other)
        }
        guard version.hasSameBytes(as: otherVersion), system.deleted == other.system.deleted else {
            return false
        }
        if system.updatedAt != nil, other.system.updatedAt != nil { return sharesInstant(with: other) }
        if let createdAt = system.createdAt, let otherCreatedAt = other.system.createdAt {
            return createdAt.canEqual(otherCreatedAt)
        }
        return (system.updatedAt == nil) == (other.system.updatedAt == nil) || hasSameValues(as: other)
    }

    /// Whether the rest is equal, and one has no version: the server shows it only in the `ETag` of single rows.
    private func isSameStateWithoutVersion(as other: Item) -> Bool {
        guard (system.version == nil) != (other.system.version == nil) else { return false }
        return system.deleted == other.system.deleted && sharesInstant(with: other)
            && hasSameValues(as: other)
    }

    /// Whether the columns that both have are equal, as the server shows them.
    private func hasSameValues(as other: Item) -> Bool {
        var isSame = true
        content.forEach { name, value in
            guard let otherValue = other.content[name] else { return }
            if !value.isShown(as: otherValue), !otherValue.isShown(as: value) { isSame = false }
        }
        return isSame
    }

    /// Whether the row was deleted for good since the other state, and inserted again; `false` when either has no
    /// `createdAt`.
    func isInsertedAgain(since other: Item) -> Bool {
        guard let createdAt = system.createdAt, let otherCreatedAt = other.system.createdAt else {
            return false
        }
        return !createdAt.canEqual(otherCreatedAt)
    }

    /// Whether the server changed the row to this state after the other one; `false` when either has no `updatedAt`, or both
    /// share one.
    func isLater(than other: Item) -> Bool {
        guard let updatedAt = system.updatedAt, let otherUpdatedAt = other.system.updatedAt else {
            return false
        }
        return otherUpdatedAt.isEarlier(than: updatedAt) && !updatedAt.canEqual(otherUpdatedAt)
    }

    /// Whether the server changed the row to both states at the same `updatedAt`.
    func sharesInstant(with other: Item) -> Bool {
        guard let updatedAt = system.updatedAt, let otherUpdatedAt = other.system.updatedAt else {
            return false
        }
        return updatedAt.canEqual(otherUpdatedAt)
    }

    /// Whether a push of this client has replaced that state of the row. A row that was inserted again can have the version of
    /// such a state, and earlier times if the server's clock has stepped back.
    func hasSuperseded(_ row: Item) -> Bool {
        guard let version = row.system.version else { return false }
        return system.supersededVersions.contains(where: version.hasSameBytes) && !row.isLater(than: self)
            && !row.isInsertedAgain(since: self)
    }
}

extension Timestamp {
    /// Whether both can be the same instant, shown with different numbers of fraction digits.
    fileprivate func canEqual(_ other: Timestamp) -> Bool {
        let digits = Int(min(fractionDigits, other.fractionDigits))
        return showing(fractionDigits: digits).isSameInstant(as: other.showing(fractionDigits: digits))
    }
}
