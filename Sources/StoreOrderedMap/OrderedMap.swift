// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A transactional map from bytes to bytes, in byte order of its keys: all that a database needs to become a store.
///
/// Wrap one in an ``OrderedMapStore`` and it is a ``SyncContextDataSource``: layout, queries, the operation
/// queue and its counts are done there. The map keeps these promises:
/// - **Atomic** and **durable**: as ``SyncContextDataSource`` says of a store, or the store declares less.
/// - **Isolated**: writes happen one after another. A read sees one state throughout: that after some whole number
///   of writes, and at least every write that had returned before it began.
/// - **Ordered**: keys compare byte by byte, unsigned, and a key comes before every longer key that begins with it.
///   Any bytes can be in a key and in a value.
///
/// It may rely on this: keys have 1 to ``maxKeyLength`` bytes, values any number including none, and bodies are
/// synchronous, keep nothing they are lent, and do not call back into the map.
public protocol OrderedMap: Sendable {
    /// The length of the longest key the map takes, at least 32 bytes; `Int.max` when there is no limit.
    ///
    /// Ids and names may be longer: ``OrderedMapStore`` sees to that.
    var maxKeyLength: Int { get }

    /// Runs the body on a consistent snapshot.
    ///
    /// - Returns: what the body returns.
    /// - Throws: what the body throws; ``StoreError/Code/closed`` after ``close()``.
    func read<T>(_ body: (any OrderedMapSnapshot) throws -> T) throws -> T

    /// Runs the body once, in one atomic, durable transaction. When it throws, nothing has changed.
    ///
    /// - Returns: what the body returns.
    /// - Throws: what the body throws; ``StoreError/Code/full`` when there is no room;
    ///   ``StoreError/Code/closed`` after ``close()``.
    func write<T>(_ body: (any OrderedMapTransaction) throws -> T) throws -> T

    /// Waits for running reads and writes, then releases files, locks and memory. Closing again does nothing.
    func close() throws
}

/// What can be read from an ordered map in a transaction.
///
/// Keys and values are lent as the memory where they lie, so that nothing need be copied. They are valid only until
/// the body they are passed to returns, and that body must not change the map.
public protocol OrderedMapSnapshot {
    /// Runs the body on the value of that key; returns `nil`, without running it, when the key is not there.
    func get<T>(_ key: [UInt8], _ body: (UnsafeRawBufferPointer) throws -> T) throws -> T?

    /// Runs the body on each key and its value, in order, from the first key that is not less than `start`, until
    /// the body returns `false` or the keys end. An empty `start` is before every key.
    func scan(
        from start: [UInt8],
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Bool
    ) throws
}

/// What can be changed in an ordered map in a transaction. Reading sees the changes made so far.
public protocol OrderedMapTransaction: OrderedMapSnapshot {
    /// Sets the value of that key, in place of an earlier one.
    func put(_ value: [UInt8], for key: [UInt8]) throws

    /// Sets the value of that key, unless it has one. Maps that can do so in one step are faster.
    ///
    /// - Returns: whether the value was set.
    func insert(_ value: [UInt8], for key: [UInt8]) throws -> Bool

    /// Removes the key and its value; a key that is not there is ignored.
    func delete(_ key: [UInt8]) throws
}

extension OrderedMapTransaction {
    /// Looks the key up, and sets its value if it has none.
    public func insert(_ value: [UInt8], for key: [UInt8]) throws -> Bool {
        guard try get(key, { _ in }) == nil else { return false }
        try put(value, for: key)
        return true
    }
}
