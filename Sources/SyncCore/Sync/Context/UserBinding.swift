// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Binds a store to the user whose rows it holds, and refuses contexts of other users.
final class UserBinding: Sendable {
    private static let key = ConfigKey(table: "", kind: .setting, name: "userID")

    private let userID: String?
    private let isConfirmed = Mutex(false)

    init(userID: String?) { self.userID = userID }

    /// Checks that the store is the user's. A store that is not bound yet becomes so.
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

    /// Checks inside a transaction that the store has not been bound to another user since.
    ///
    /// - Throws: ``SyncError/Code/storeOfAnotherUser``; the store's errors.
    func require(in snapshot: any StoreSnapshot) throws {
        guard let userID, let stored = try snapshot.configValue(Self.key) else { return }
        guard stored.hasSameBytes(as: userID) else { throw Self.otherUser }
    }

    private static var otherUser: SyncError {
        SyncError(
            .storeOfAnotherUser,
            "The store holds the rows of another user. Remove them with purgeAll(pending:), or open the store of "
                + "this user.")
    }

    /// Binds the store to the user of this context, inside a transaction that has removed all rows.
    func rebind(in transaction: any StoreTransaction) throws {
        try transaction.setConfigValue(userID, for: Self.key)
    }
}
