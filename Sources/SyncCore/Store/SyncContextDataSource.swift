// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A database under a sync context: the one protocol that a store's author implements.
///
/// A store keeps five things: the **items** of the declared tables, the **operation queue**, the **error log**,
/// **table config** values, and the highest operation id it has ever seen. It knows nothing of servers, collapsing or
/// conflicts; all of that is done above it, with the requirements of ``StoreSnapshot`` and ``StoreTransaction``.
///
/// ## What a store promises
/// - **Atomic**: all changes of one ``write(_:)`` happen, or, if the body or the commit throws, none.
/// - **Durable**: when ``write(_:)`` has returned, a killed process or a lost power supply does not undo it. A
///   store that cannot promise this declares ``StoreCapabilities/isDurable`` false.
/// - **Isolated**: writes happen one after another. A ``read(_:)`` sees the state after some whole number of
///   them, the same one throughout its body, and at least every write that had returned before it began.
/// - **Exact**: what was put comes back equal, by the equality of ``ItemValue``: byte for byte, bit for bit,
///   null apart from missing. Ids that differ in any byte are different.
///
/// ## What a store may rely on
/// - Items have been normalised against their table's definition: every field is a declared column and null or of
///   the column's type; doubles are finite; ids follow the rules of ``ItemID``; none is a tombstone.
/// - Operation ids are positive.
/// - Queries have been checked against the definition: they name known columns and compare like with like.
/// - Bodies are synchronous, do not keep the snapshot or transaction, and do not call back into the store.
/// - Calls come from any thread and may block; they never run on the threads of Swift's cooperative pool.
///
/// ## Opening
/// A store is opened with the tables that the app declares, and prepares itself for them: it adds tables and columns it
/// has not seen, and drops nothing, so that what is no longer declared is there when it is declared again. Items are
/// read without columns that are not declared, and keep their values there when they are replaced. When the synced
/// columns of a table are not those of the last opening, the store runs a ``SyncedColumnsChange``. It throws
/// ``SyncError/Code/invalidTableDefinition`` for bad names, by making a ``TableCatalog`` first;
/// ``StoreError/Code/schemaMismatch`` for a column of another type than before; and ``StoreError/Code/newerFormat``,
/// ``StoreError/Code/corrupt`` or ``StoreError/Code/cannotOpen`` for a file it cannot use, which it leaves as it is. A
/// store that is not declared ``StoreCapabilities/isMultiProcess`` throws ``StoreError/Code/alreadyOpen`` when its file
/// is open already.
///
/// ## Errors
/// A store throws ``StoreError``. An error that a body throws leaves ``read(_:)`` and ``write(_:)`` unchanged.
/// After any error the store is as usable as before.
///
/// An author who has an ordered map of bytes need not implement this: see `OrderedMap`.
public protocol SyncContextDataSource: Sendable {
    /// The tables the store was opened with. It never changes.
    var catalog: TableCatalog { get }

    /// What this store can do beyond the contract, and where its limits are. It never changes.
    var capabilities: StoreCapabilities { get }

    /// Runs the body on a consistent snapshot of the whole store.
    ///
    /// The snapshot sees no write that commits while the body runs, and does not hold such a write up if the store
    /// declares ``StoreCapabilities/hasConcurrentReaders``.
    ///
    /// - Returns: what the body returns.
    /// - Throws: what the body throws; ``StoreError/Code/closed`` after ``close()``.
    func read<T>(_ body: (any StoreSnapshot) throws -> T) throws -> T

    /// Runs the body in one atomic, durable transaction that sees its own changes.
    ///
    /// Waits for other writes. When it returns, the changes are durable and every later read sees them. When it
    /// throws, nothing has changed; that includes ``StoreTransaction/lastOperationID()``.
    ///
    /// - Returns: what the body returns.
    /// - Throws: what the body throws; ``StoreError/Code/full`` when there is no room;
    ///   ``StoreError/Code/closed`` after ``close()``.
    func write<T>(_ body: (any StoreTransaction) throws -> T) throws -> T

    /// Calls the handler after each commit that did not come from this store's own ``write(_:)`` and changed its items or
    /// operations, if the store notices such commits. The handler returns at once, and may be called on any thread.
    ///
    /// A store that nobody else writes to need not implement this.
    func onExternalCommit(_ handler: @escaping @Sendable () -> Void)

    /// Takes the lock of the one process that pushes, without waiting.
    ///
    /// A store that is declared ``StoreCapabilities/isMultiProcess`` implements this with a lock that the system releases
    /// when the process ends, however it ends.
    ///
    /// - Returns: the lock; `nil` while another process, or another opening of the file in this one, has it.
    /// - Throws: ``StoreError`` when the lock cannot be made; ``StoreError/Code/closed`` after ``close()``.
    func tryLockPush() throws -> (any StorePushLock)?

    /// Waits for running reads and writes, then releases files, locks and memory.
    ///
    /// Every later call but this one throws ``StoreError/Code/closed``. Closing again does nothing.
    func close() throws
}

extension SyncContextDataSource {
    /// A lock that is always free.
    public func tryLockPush() throws -> (any StorePushLock)? { UnsharedPushLock() }

    /// Notices no commits of others.
    public func onExternalCommit(_ handler: @escaping @Sendable () -> Void) {}
}
