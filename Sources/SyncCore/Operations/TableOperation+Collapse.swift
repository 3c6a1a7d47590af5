// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// What a local change does to the pending operations of its item.
enum CollapseOutcome: Sendable, Hashable {
    /// A new operation goes to the end of the queue.
    case append(TableOperation.Kind)
    /// The operation of the same id takes this form, at the same place in the queue.
    case replace(TableOperation)
    /// The operation of that id goes: the server never needs to know.
    case remove(id: Int64)
    /// The queue stays as it is.
    case nothing
    /// The change is not possible.
    case refuse(SyncError.Code, String)
}

extension TableOperation {
    /// Whether an attempt was made of which nobody knows if the server applied it.
    public var isAmbiguous: Bool { sent != nil }

    /// The version of the app's copy of the item, if that was older than the row that the change counts as made on.
    var olderVersion: String? {
        guard let version, let known = base?.system.version, !version.hasSameBytes(as: known) else {
            return nil
        }
        return version
    }

    /// How a local change joins the pending operations of its item.
    ///
    /// At most two operations exist per item: one that is in flight or ambiguous, and one behind it.
    ///
    /// - Parameters:
    ///   - change: what the app does to the item.
    ///   - operations: the item's pending operations, oldest first.
    ///   - isInFlight: whether the first of them is being sent right now, so that it cannot be changed.
    static func collapse(
        _ change: Kind, into operations: [TableOperation], isInFlight: Bool
    ) -> CollapseOutcome {
        guard let last = operations.last else { return .append(change) }
        let isFrozen = isInFlight && operations.count == 1
        switch (last.kind, change) {
        case (.insert, .insert), (.update, .insert):
            return .refuse(
                .invalidOperation, "The item has a pending \(last.kind); it cannot be inserted again.")
        case (.delete, .update):
            return .refuse(.itemNotFound, "The item has been deleted; it cannot be updated.")
        case (.delete, .delete):
            return .nothing
        case (_, _) where isFrozen:
            return .append(change)
        case (.insert, .update), (.update, .update):
            return .replace(last.edited())
        case (.insert, .delete):
            // Once sent, the server may have the row: only a delete is sure to leave it without.
            return last.isAmbiguous ? .replace(last.edited(kind: .delete)) : .remove(id: last.id)
        case (.update, .delete):
            return .replace(last.edited(kind: .delete))
        case (.delete, .insert):
            // An ambiguous delete is settled first; the new row comes behind it.
            return last.isAmbiguous ? .append(.insert) : .replace(last.edited(kind: .update, replaces: true))
        }
    }

    /// What becomes of an operation that failed while another one was queued behind it: the two merge by the
    /// same rules as a change that comes now.
    static func merge(_ failed: TableOperation, with behind: TableOperation) -> CollapseOutcome {
        switch collapse(behind.kind, into: [failed], isInFlight: false) {
        case .replace(var merged):
            merged.replaces = merged.replaces || (behind.replaces && merged.kind != .delete)
            merged.version = behind.olderVersion ?? merged.version
            merged.deletedItem = behind.deletedItem
            merged.changedAt = behind.changedAt
            return .replace(merged)
        case let outcome:
            return outcome
        }
    }

    private func edited(kind newKind: Kind? = nil, replaces replacesBase: Bool? = nil) -> TableOperation {
        var edited = self
        edited.kind = newKind ?? kind
        edited.replaces = replacesBase ?? (edited.kind != .delete && replaces)
        edited.revision += 1
        edited.attempts = 0
        edited.state = isAmbiguous ? .attempted : .pending
        edited.deletedItem = nil
        return edited
    }
}
