// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

// The app may change a copy of an item that is older than the stored item. The operation then sends the version of the
// copy, not that of its base, so that the server reports the conflict.

extension TableOperation {
    /// Records the state of the app's copy of the item, if the copy is older than the stored item.
    ///
    /// A version that only this client's pushes have replaced does not count as older: the stored item has no
    /// change by another client.
    mutating func setOlderCopy(_ copy: SystemProperties?, of item: Item) {
        guard kind != .insert, let copy, let version = copy.version, let current = item.system.version
        else { return }
        let known = Item(id: item.id, system: copy)
        if version.hasSameBytes(as: current) {
            if !item.isSameState(as: known), !item.hasSuperseded(known) { setFormerRow(copy) }
        } else if item.isInsertedAgain(since: known)
            || !item.system.supersededVersions.contains(where: version.hasSameBytes)
        {
            self.version = version
        }
    }

    /// Records the values that the changed fields had in the app's older copy, so that a conflict shows and merges what the user
    /// has changed. Discarding the change restores the stored item. A field that the operation has changed before keeps the value
    /// of its first change.
    ///
    /// - Parameters:
    ///   - original: `nil` if they are not known.
    ///   - item: the stored item, on which the operation was made.
    mutating func setOriginal(_ original: [String: ItemValue]?, of item: Item) {
        guard let original, olderVersion != nil, var base, base.isSameState(as: item) else { return }
        let first = original.filter { name, _ in
            (item.content[name] ?? .null) == (base.content[name] ?? .null)
        }
        guard !first.isEmpty else { return }
        serverItem = serverItem ?? base
        base.fields.merge(first) { $1 }
        self.base = base
    }

    /// The values of ``setOriginal(_:of:)`` that the stored item did not have, of an operation behind another one. Its server
    /// item is the stored item: pulls store their rows with the first operation.
    private var original: [String: ItemValue] {
        guard olderVersion != nil, let base, let serverItem, base.isSameState(as: serverItem) else {
            return [:]
        }
        return base.fields.filter { serverItem.content[$0.key] != $0.value }
    }

    /// Records that an operation which is now made on another row was made on an older copy of its item.
    ///
    /// - Parameter former: the operation behind another one, as it was before.
    mutating func setOlderCopy(as former: TableOperation) {
        guard let base else { return }
        setOlderCopy(former.formerRow, of: base)
        setOriginal(former.original, of: base)
    }

    /// The version of the app's copy of the item, if the copy was older than the operation's base.
    var olderVersion: String? { base?.system.version.flatMap { version(otherThan: [$0]) } }

    /// The version of the app's copy of the item, if the copy was older than the row that the operation was made on.
    ///
    /// - Parameter item: the stored item's system properties, which are the row's if the operation has no base.
    func olderVersion(than item: SystemProperties?) -> String? {
        guard hasUnknownBase else { return olderVersion }
        return item?.version.flatMap { version(otherThan: [$0] + (item?.supersededVersions ?? [])) }
    }

    /// The version of the app's copy of the item, if the copy was older than the item when the operation was made.
    ///
    /// - Parameter first: the operation before this one. The item shows the row that it was made on; if that operation clashes
    ///   with a later row, the item shows the later one.
    func olderVersion(behind first: TableOperation) -> String? {
        guard hasUnknownBase else { return olderVersion }
        return first.versionMadeOn.flatMap { made in
            let shown = [made, first.serverItem?.system.version].compactMap(\.self)
            return version(otherThan: shown + (first.base?.system.supersededVersions ?? []))
        }
    }

    private func version(otherThan known: [String]) -> String? {
        version.flatMap { known.contains(where: $0.hasSameBytes) ? nil : $0 }
    }

    /// Records that the copy is of a row that was deleted for good and inserted again, with the same version: the operation
    /// was made on the former row, and the stored row counts as one that a pull has received since. See
    /// `OperationAttempt.undetectedConflict()`.
    private mutating func setFormerRow(_ system: SystemProperties) {
        guard var former = base else { return }
        serverItem = serverItem ?? base
        former.system = system
        base = former
    }

    /// The state of the former row that the operation was made on, if the server has another row with its version.
    var formerRow: SystemProperties? {
        guard let base, let serverItem, let version = base.system.version,
            serverItem.system.version?.hasSameBytes(as: version) == true,
            !serverItem.isSameState(as: base)
        else { return nil }
        return base.system
    }
}
