// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The storage of a sync context: the one protocol that the author of a store implements.
///
/// A store keeps five things: the **items** of the declared tables, the **operation queue**, the **error log**,
/// **table config** values, and the highest operation id. It does not know servers, collapsing or conflicts: the
/// context implements them with the requirements of ``StoreSnapshot`` and ``StoreTransaction``.
///
/// ## What a store promises
/// - **Atomic**: all changes of one ``write(_:)`` are committed, however large they are, or, if the body or the commit
///   throws, none. ``StoreError/Code/outcomeUnknown`` is the exception: see "Unknown outcomes".
/// - **Durable**: a write that has returned survives a crash and a power failure. A store that cannot promise this
///   declares ``StoreCapabilities/isDurable`` false.
/// - **Isolated**: writes are serialized, also those of several openings; a write sees the changes of every write that it
///   waited for. A ``read(_:)`` sees one committed state throughout its body: the state when its body began, which includes
///   every write that returned before.
/// - **Exact**: a read value equals the written value, by the equality of ``ItemValue``: byte for byte, bit for bit,
///   null different from missing. Ids that differ in any byte are different.
///
/// ## What a store may rely on
/// - Items are normalized: every field is a declared column, and null or of the column's type; doubles are finite; ids
///   are valid by ``ItemID``; no item is a tombstone.
/// - Operation ids are positive. The item ids of operations and errors are valid; their tables may be undeclared.
/// - Queries are validated: they name known columns and compare values of compatible types.
/// - Bodies are synchronous, do not keep the snapshot or transaction, and do not call back into the store.
/// - Calls come from any thread and may block; they never run on the threads of Swift's cooperative pool.
///
/// ## Opening
/// A store opens with the tables that the app declares. It adds missing tables and columns and drops nothing, so that a
/// table that is declared again has its data. Items are read without undeclared columns; replacing an item keeps their
/// values. When the synced columns of a table differ from those of the last opening, the store runs a
/// `SyncedColumnsChange`. Opening throws ``SyncError/Code/invalidTableDefinition`` for invalid names, from
/// ``TableCatalog/init(_:)``; ``StoreError/Code/schemaMismatch`` for a column whose type has changed, and for a
/// name that differs in case only from that of a stored table or column; and ``StoreError/Code/newerFormat``,
/// ``StoreError/Code/corrupt`` or ``StoreError/Code/cannotOpen`` for a file that cannot be used, which is not changed,
/// however short it is. A store that does not declare ``StoreCapabilities/isMultiProcess`` throws
/// ``StoreError/Code/alreadyOpen`` when its file is already open, in this or another process.
///
/// An opening that is refused for invalid tables creates no files. When the directory of its path does not exist, a store
/// with files throws ``StoreError/Code/cannotOpen`` and creates nothing.
///
/// A store that declares ``StoreCapabilities/isMultiProcess`` can be opened by several processes at the same time, also when
/// it is new, and with different tables and columns: each opening reads and replaces the values of the columns that it
/// declares, and keeps the others.
///
/// The locks of a process that was killed are released within ten seconds: another process can then open the store and
/// acquire the push lock, and other openings continue to write. An opening that fails does not affect other openings of the
/// same store.
///
/// ## Errors
/// A store throws ``StoreError``. ``read(_:)`` and ``write(_:)`` rethrow the errors of their bodies unchanged. The store
/// remains usable after any error. A store on a server connects again by itself after it has lost its connection.
///
/// A store runs a body again only when nothing of its first run was committed.
///
/// ## Unknown outcomes
/// ``write(_:)`` throws ``StoreError/Code/outcomeUnknown`` when the server or the drive has not confirmed the commit: all
/// changes or none are committed. The context and the app then read the store to find out.
/// - After a lost connection, all later reads and writes, also of later openings, must see the same outcome. The server may
///   still be committing: a store on a server waits for the end of that transaction before its next read or write.
/// - After a drive that has not confirmed the commit, all later reads and writes of this opening must see the same outcome.
///   The next opening may find the other one: read again after it. It cannot if a later write with changes has returned,
///   because what that write saw is durable.
///
/// For a database that is an ordered map of bytes, the product `StoreOrderedMap` implements this protocol.
public protocol SyncContextDataSource: Sendable {
    /// The tables that the store was opened with. The catalog never changes.
    var catalog: TableCatalog { get }

    /// The optional capabilities and the limits of this store. They never change.
    var capabilities: StoreCapabilities { get }

    /// Runs the body on a consistent snapshot of the whole store.
    ///
    /// The body does not see writes that are committed while it runs. It does not block them if the store declares
    /// ``StoreCapabilities/hasConcurrentReaders``.
    ///
    /// - Returns: what the body returns.
    /// - Throws: what the body throws; ``StoreError/Code/closed`` after ``close()``.
    func read<T>(_ body: (any StoreSnapshot) throws -> T) throws -> T

    /// Runs the body in one atomic, durable transaction that sees its own changes.
    ///
    /// Waits for other writes. When it returns, the changes are durable and visible to later reads. When it throws an error
    /// other than ``StoreError/Code/outcomeUnknown``, nothing has changed, including
    /// ``StoreTransaction/lastOperationID()``.
    ///
    /// - Returns: what the body returns.
    /// - Throws: what the body throws; ``StoreError/Code/full`` when the disk or database is full;
    ///   ``StoreError/Code/unavailable`` when the connection to a server is lost before the commit is sent,
    ///   ``StoreError/Code/outcomeUnknown`` when it is lost after that, or when the drive has not confirmed the commit;
    ///   ``StoreError/Code/closed`` after ``close()``.
    func write<T>(_ body: (any StoreTransaction) throws -> T) throws -> T

    /// Calls the handler after each commit that changed items or operations and was not made by ``write(_:)``, if the
    /// store detects such commits; it may also be called after others. The handler returns immediately, and may be called on
    /// any thread.
    ///
    /// A store without other writers does not implement this.
    func onExternalCommit(_ handler: @escaping @Sendable () -> Void)

    /// Acquires the push lock, which one process can hold, without waiting.
    ///
    /// A store that declares ``StoreCapabilities/isMultiProcess`` implements this with a lock that the system releases
    /// when the process ends or crashes.
    ///
    /// - Returns: the lock; `nil` if another process, or another connection in this process, holds it.
    /// - Throws: ``StoreError`` when the lock cannot be created; ``StoreError/Code/closed`` after ``close()``.
    func tryLockPush() throws -> (any StorePushLock)?

    /// Acquires the sync lock without waiting: of several processes that have the store open, the holder is the one that
    /// syncs by itself. It is independent of the push lock, and is released like it.
    ///
    /// - Returns: the lock; `nil` if another process, or another connection in this process, holds it.
    /// - Throws: ``StoreError`` when the lock cannot be created; ``StoreError/Code/closed`` after ``close()``.
    func tryLockSync() throws -> (any StorePushLock)?

    /// Waits for running reads and writes, then releases files, locks and memory.
    ///
    /// Calls of other threads that are waiting when the store closes run as a whole, or throw ``StoreError/Code/closed``
    /// and have no effect. Later calls throw ``StoreError/Code/closed``. Closing again does nothing.
    func close() throws
}

extension SyncContextDataSource {
    /// Returns a lock that is always free, because one process has the store open. Throws what an empty read throws, so that
    /// a closed store gives out no lock.
    public func tryLockPush() throws -> (any StorePushLock)? { try unsharedLock() }

    /// Returns a lock that is always free, because one process has the store open. Throws what an empty read throws, so that
    /// a closed store gives out no lock.
    public func tryLockSync() throws -> (any StorePushLock)? { try unsharedLock() }

    private func unsharedLock() throws -> UnsharedPushLock {
        try read { _ in UnsharedPushLock() }
    }

    /// Never calls the handler.
    public func onExternalCommit(_ handler: @escaping @Sendable () -> Void) {}
}
