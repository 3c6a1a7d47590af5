// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Binds a store to the user whose rows it holds, and rejects contexts of other users.
final class UserBinding: Sendable {
    private static let key = ConfigKey(table: "", kind: .setting, name: "userID")

    private let userID: String?
    private let isConfirmed = Mutex(false)

    init(userID: String?) { self.userID = userID }

    /// Checks that the store is bound to the user. Binds a store that is not bound.
    ///
    /// - Throws: ``SyncError/Code/storeOfAnotherUser``; the store's errors.
    func confirm(in store: GroupCommitWriter) async throws {
        guard userID != nil, !isConfirmed.withLock({ $0 }) else { return }
        if try await !store.read(isBound) { try await store.write(bind) }
        isConfirmed.withLock { $0 = true }
    }

    /// Checks in a transaction that the store is not bound to another user.
    ///
    /// - Throws: ``SyncError/Code/storeOfAnotherUser``; the store's errors.
    func require(in snapshot: any StoreSnapshot) throws { _ = try isBound(in: snapshot) }

    /// Checks in a write transaction that the store is not bound to another user, and binds a store that a context without a user
    /// has purged since.
    ///
    /// - Throws: as ``require(in:)``.
    func bind(in transaction: any StoreTransaction) throws {
        if try !isBound(in: transaction) { try rebind(in: transaction) }
    }

    /// Whether the store is bound to the user; `true` without a user.
    ///
    /// - Throws: as ``require(in:)``.
    private func isBound(in snapshot: any StoreSnapshot) throws -> Bool {
        guard let userID else { return true }
        guard let stored = try snapshot.configValue(Self.key) else { return false }
        guard stored.hasSameBytes(as: userID) else { throw Self.otherUser }
        return true
    }

    private static var otherUser: SyncError {
        SyncError(
            .storeOfAnotherUser,
            "The store contains the rows of another user. Remove them with purgeAll(pending:), or open the store of "
                + "this user.")
    }

    /// Binds the store to the user of this context, in a transaction that has removed all rows.
    func rebind(in transaction: any StoreTransaction) throws {
        try transaction.setConfigValue(userID, for: Self.key)
    }
}
