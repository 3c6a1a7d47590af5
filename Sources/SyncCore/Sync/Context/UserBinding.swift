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
        guard let userID, !isConfirmed.withLock({ $0 }) else { return }
        var stored = try await store.read { try $0.configValue(Self.key) }
        if stored == nil {
            stored = try await store.write { transaction in
                if let stored = try transaction.configValue(Self.key) { return stored }
                try transaction.setConfigValue(userID, for: Self.key)
                return userID
            }
        }
        guard stored?.hasSameBytes(as: userID) == true else { throw Self.otherUser }
        isConfirmed.withLock { $0 = true }
    }

    /// Checks in a transaction that the store is not bound to another user.
    ///
    /// - Throws: ``SyncError/Code/storeOfAnotherUser``; the store's errors.
    func require(in snapshot: any StoreSnapshot) throws {
        guard let userID, let stored = try snapshot.configValue(Self.key) else { return }
        guard stored.hasSameBytes(as: userID) else { throw Self.otherUser }
    }

    /// Checks in a write transaction that the store is not bound to another user, and binds a store that a context without a user
    /// has purged since.
    ///
    /// - Throws: as ``require(in:)``.
    func bind(in transaction: any StoreTransaction) throws {
        guard let userID else { return }
        guard let stored = try transaction.configValue(Self.key) else {
            return try transaction.setConfigValue(userID, for: Self.key)
        }
        guard stored.hasSameBytes(as: userID) else { throw Self.otherUser }
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
