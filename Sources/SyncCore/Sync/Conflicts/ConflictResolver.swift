// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A rule that resolves conflicts, found by a push or by a pull.
///
/// ```swift
/// settings.resolver = .fieldMerge(onClash: .serverWins)
/// settings.resolvers["Log"] = .clientWins
/// ```
///
/// A decision is applied in one transaction, and only if neither side has changed since the resolver was called;
/// otherwise the resolver is called again with the current state.
public struct ConflictResolver: Sendable {
    private let decision: @Sendable (Conflict) async throws -> ConflictDecision
    /// Columns in which the same change on both sides is two changes, as for a counter.
    package let combinedColumns: Set<String>

    /// Makes a resolver from the app's own rule. It may suspend, and nothing else is synced until it returns: return when the
    /// task is cancelled. To ask the user, return ``ConflictDecision/keepPending``, and decide later. An error that it throws
    /// becomes the operation's error.
    public init(_ decision: @escaping @Sendable (Conflict) async throws -> ConflictDecision) {
        self.init(combining: [], decision)
    }

    /// Makes a resolver whose rule combines the changes of both sides in some columns: see ``combinedColumns``.
    package init(
        combining columns: Set<String>,
        _ decision: @escaping @Sendable (Conflict) async throws -> ConflictDecision
    ) {
        self.decision = decision
        combinedColumns = columns
    }

    /// Returns the rule's decision.
    public func resolve(_ conflict: Conflict) async throws -> ConflictDecision {
        try await decision(conflict)
    }
}

extension ConflictResolver {
    /// Always keeps the server's row.
    public static let serverWins = ConflictResolver { _ in .keepServer }

    /// Always keeps the device's change.
    public static let clientWins = ConflictResolver { _ in .keepClient }

    /// Always leaves the operation pending, so that the app decides later.
    public static let keepPending = ConflictResolver { _ in .keepPending }

    /// Keeps the later change: compares the server's `updatedAt` with the time of the edit by the device's clock. The
    /// server wins ties, and rows without `updatedAt`. If the server has no row, the device's change is kept. With a wrong
    /// clock on the device, the wrong side may win.
    public static let lastWriterWins = ConflictResolver { conflict in
        conflict.serverItem == nil || conflict.isClientLater ? .keepClient : .keepServer
    }

    /// Keeps a deletion on either side; the other rule decides between two edits.
    public static func deleteWins(otherwise rule: ConflictResolver) -> ConflictResolver {
        ConflictResolver(combining: rule.combinedColumns) { conflict in
            if conflict.isDeletedOnServer { return .keepServer }
            if conflict.isDeletedOnClient { return .keepClient }
            return try await rule.resolve(conflict)
        }
    }

    /// Keeps an edit on either side, which undoes a deletion on the other; the other rule decides between two edits.
    public static func updateWins(otherwise rule: ConflictResolver) -> ConflictResolver {
        ConflictResolver(combining: rule.combinedColumns) { conflict in
            switch (conflict.isDeletedOnClient, conflict.isDeletedOnServer) {
            case (true, _): .keepServer
            case (false, true): .keepClient
            case (false, false): try await rule.resolve(conflict)
            }
        }
    }

    /// Merges by fields: keeps each change that only one side made. The other rule decides when both sides changed a field
    /// to different values, or one side deleted the item.
    ///
    /// - Parameter rule: what to do with fields that clash. Its ``ConflictDecision/keepServer`` and
    ///   ``ConflictDecision/keepClient`` apply to those fields only, any other decision to the whole item. If one side
    ///   deleted the item, every decision applies to the whole item.
    public static func fieldMerge(onClash rule: ConflictResolver) -> ConflictResolver {
        ConflictResolver { conflict in
            guard let client = conflict.clientItem, let server = conflict.serverItem, !server.system.deleted
            else {
                return try await rule.resolve(conflict)
            }
            let merge = ThreeWayMerge(
                local: client, server: server, base: conflict.ancestor,
                localOnlyColumns: conflict.localOnlyColumns)
            guard merge.hasClash else { return .merge(merge.item(preferringLocal: false)) }
            switch try await rule.resolve(conflict) {
            case .keepServer: return .merge(merge.item(preferringLocal: false))
            case .keepClient: return .merge(merge.item(preferringLocal: true))
            case let decision: return decision
            }
        }
    }
}

extension Conflict {
    /// Whether the device's change is the later one: its time by the device's clock is after the row's `updatedAt`. The server
    /// wins ties, and changes and rows without a time.
    package var isClientLater: Bool {
        guard let client = operation.changedAt, let server = serverItem?.system.updatedAt else {
            return false
        }
        return server.isEarlier(than: client)
    }
}
