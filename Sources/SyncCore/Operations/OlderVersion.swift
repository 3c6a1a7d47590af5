// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

// The app may change a copy of an item that is older than the stored item. The operation then sends the version of the
// copy, not that of its base, so that the server reports the conflict.

extension TableOperation {
    /// Records the version of the app's copy of the item, if the copy is older than the stored item.
    ///
    /// A version that only this client's pushes have replaced does not count as older: the stored item has no
    /// change by another client.
    mutating func setOlderVersion(_ version: String?, of item: Item) {
        guard kind != .insert, let version, let current = item.system.version,
            !version.hasSameBytes(as: current),
            !item.system.supersededVersions.contains(where: version.hasSameBytes)
        else { return }
        self.version = version
    }

    /// The version of the app's copy of the item, if the copy was older than the operation's base.
    var olderVersion: String? {
        guard let version, let known = base?.system.version, !version.hasSameBytes(as: known) else {
            return nil
        }
        return version
    }
}
