// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A transactional map from bytes to bytes in the byte order of its keys: the minimum a database needs to be a store.
///
/// Wrap it in an ``OrderedMapStore`` to get a ``SyncContextDataSource``, which implements the layout, queries, the
/// operation queue and its counts. The map guarantees:
/// - **Atomicity** and **durability**: as ``SyncContextDataSource`` requires, unless the store's capabilities declare
///   less.
/// - **Isolation**: writes are serialized. A read sees one state throughout: the result of a whole number of writes,
///   including every write that returned before the read began.
/// - **Order**: keys compare byte by byte, unsigned; a key precedes every longer key that begins with it. Keys and
///   values can contain any bytes.
///
/// The map may assume that keys have 1 to ``maxKeyLength`` bytes, that values have any length including 0, and that
/// bodies are synchronous, do not retain borrowed memory and do not call ``read(_:)``, ``write(_:)`` or ``close()``.
public protocol OrderedMap: Sendable {
    /// The maximum key length, at least 32 bytes; `Int.max` when there is no limit. It never changes for a map that has data.
    ///
    /// Ids and names may be longer: ``OrderedMapStore`` maps them to keys of this length.
    var maxKeyLength: Int { get }

    /// Runs the body on a consistent snapshot.
    ///
    /// - Returns: what the body returns.
    /// - Throws: what the body throws; ``StoreError/Code/closed`` after ``close()``.
    func read<T>(_ body: (any OrderedMapSnapshot) throws -> T) throws -> T

    /// Runs the body once, in one atomic, durable transaction. If the body throws, nothing changes.
    ///
    /// - Returns: what the body returns.
    /// - Throws: what the body throws; ``StoreError/Code/full`` when there is no space left;
    ///   ``StoreError/Code/closed`` after ``close()``.
    func write<T>(_ body: (any OrderedMapTransaction) throws -> T) throws -> T

    /// Waits for running reads and writes, then releases files, locks and memory. A second call does nothing.
    func close() throws
}

/// The read operations of an ordered map in a transaction.
///
/// Bodies borrow keys and values from the map's memory without a copy. The memory is valid only until the body that
/// receives it returns, and that body must not change the map.
public protocol OrderedMapSnapshot {
    /// Calls the body with the value of the key; returns `nil` without calling it when the map does not contain the
    /// key.
    func get<T>(_ key: [UInt8], _ body: (UnsafeRawBufferPointer) throws -> T) throws -> T?

    /// Calls the body with each key and value, in order, from the first key that is not less than `start`, until the
    /// body returns `false` or there are no more keys. An empty `start` precedes every key. The body may call `get`.
    func scan(
        from start: [UInt8],
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Bool
    ) throws
}

/// The write operations of an ordered map in a transaction. Reads see the changes made so far.
public protocol OrderedMapTransaction: OrderedMapSnapshot {
    /// Sets the value of the key, replacing an earlier one.
    func put(_ value: [UInt8], for key: [UInt8]) throws

    /// Sets the value of the key unless it has one. Implement it in one step if the map can, which is faster.
    ///
    /// - Returns: whether the value was set.
    func insert(_ value: [UInt8], for key: [UInt8]) throws -> Bool

    /// Removes the key and its value; does nothing when the map does not contain the key.
    func delete(_ key: [UInt8]) throws

    /// Returns a number that changes with each commit of another process or another opening, as
    /// ``/SyncCore/StoreTransaction/externalCommitStamp()`` requires. The default returns 0, for a map that one process
    /// opens once.
    func externalCommitStamp() throws -> Int64
}

extension OrderedMapTransaction {
    /// Returns 0.
    public func externalCommitStamp() throws -> Int64 { 0 }

    /// Looks the key up, then sets its value if it has none.
    public func insert(_ value: [UInt8], for key: [UInt8]) throws -> Bool {
        guard try get(key, { _ in }) == nil else { return false }
        try put(value, for: key)
        return true
    }
}
