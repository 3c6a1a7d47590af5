// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// What a local change does to the pending operations of its item.
enum CollapseOutcome: Sendable, Hashable {
    /// A new operation is added at the end of the queue.
    case append(TableOperation.Kind)
    /// The operation of this id is replaced, at the same position in the queue.
    case replace(TableOperation)
    /// The operation of this id is removed: nothing needs to be sent.
    case remove(id: Int64)
    /// The queue is not changed.
    case nothing
    /// The change is not possible.
    case refuse(SyncError.Code, String)
}

extension TableOperation {
    /// Whether the operation has an attempt with unknown outcome.
    public var isAmbiguous: Bool { sent != nil }

    /// Whether the server may have the row of this insert: it was sent, a delegate may have sent it, or the row may have been
    /// there before. A delete must then be sent too.
    var mayBeOnServer: Bool { isAmbiguous || isPerformed || isAdopted }

    /// Collapses a local change into the pending operations of its item.
    ///
    /// An item has at most two operations: one that is in flight or has an attempt with unknown outcome, and one behind it.
    ///
    /// - Parameters:
    ///   - change: the local change.
    ///   - operations: the item's pending operations, oldest first.
    ///   - isInFlight: whether the first of them is being sent, so that it cannot be changed.
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
            return last.mayBeOnServer ? .replace(last.edited(kind: .delete)) : .remove(id: last.id)
        case (.update, .delete):
            return .replace(last.edited(kind: .delete))
        case (.delete, .insert):
            // The outcome of a sent delete must be known before the new row is inserted.
            guard !last.isAmbiguous else { return .append(.insert) }
            let isUnknown = operations.count == 1 && last.base == nil && last.version == nil
            guard isUnknown else { return .replace(last.edited(kind: .update, replaces: true)) }
            // The server may not have the row; if it does, it is another client's, and a conflict.
            var insert = last.edited(kind: .insert)
            insert.isAdopted = false
            return .replace(insert)
        }
    }

    /// Merges an operation that failed with the operation behind it, by the rules for a new change.
    static func merge(_ failed: TableOperation, with behind: TableOperation) -> CollapseOutcome {
        switch collapse(behind.kind, into: [failed], isInFlight: false) {
        case .replace(var merged):
            if behind.replaces {
                // The item was deleted and inserted again meanwhile. That deletion was not sent, so a tombstone of the server's
                // row is another client's, and a row is no longer the one that the app has enqueued.
                if merged.kind == .insert { merged.isAdopted = false }
                if merged.kind == .update { merged.replaces = true }
            }
            merged.version = behind.olderVersion(behind: failed) ?? merged.version
            if behind.hasUnknownBase, merged.kind == .update, !merged.undeletes { merged.base = nil }
            merged.setOlderCopy(as: behind)
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
        edited.refusals = 0
        edited.state = isAmbiguous ? .attempted : .pending
        edited.deletedItem = nil
        return edited
    }
}
