// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import GRDB
public import SyncCore
import Synchronization

extension SQLiteStore {
    /// Enqueues changes that the app makes to its own tables, in the app's transaction, so that row and operation are
    /// committed together.
    ///
    /// ```swift
    /// try await dbPool.write { db in
    ///     try player.update(db)
    ///     try store.enqueueExternalChanges(in: "player", changed: [player.id], on: db)
    /// }
    /// ```
    ///
    /// The previous rows are unknown, so updates send whole items, based on the version of the row. A change of an item
    /// whose operation may be in flight is queued behind that operation. Contexts on this store observe the commit.
    ///
    /// - Parameters:
    ///   - table: the table.
    ///   - changed: the ids of inserted or changed rows.
    ///   - deleted: the deleted rows, read before the delete with ``item(id:in:on:)``.
    ///   - now: the time of the changes.
    ///   - database: the connection that runs the app's transaction.
    /// - Throws: as ``SyncContext/enqueueExternalChanges(in:changed:deleted:)``; ``StoreError/Code/unsupported``
    ///   outside a transaction. The app must then roll its transaction back.
    public func enqueueExternalChanges(
        in table: String, changed: [String] = [], deleted: [Item] = [], at now: Timestamp = Timestamp(Date()),
        on database: Database
    ) throws {
        guard database.isInsideTransaction else {
            throw StoreError(
                .unsupported,
                "Changes can be enqueued only in the transaction that makes them; call this inside `write`.")
        }
        try openGuard.run {
            let definition = try catalog.table(named: table)
            let performed = performedInserts.withLock(\.self)?() ?? []
            try transaction(database).enqueueExternalChanges(
                in: definition, changed: changed, deleted: deleted, areCurrent: true,
                inFlight: .unknown(performed: performed), at: now)
        }
    }

    /// Reads an item on a connection of the app; returns `nil` when the item does not exist.
    ///
    /// - Throws: ``SyncError/Code/unknownTable``; ``StoreError``.
    public func item(id: String, in table: String, on database: Database) throws -> Item? {
        try openGuard.run { try transaction(database).item(id: id, in: table) }
    }
}
