// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The optional capabilities and the limits of a store.
///
/// A longer id than ``maxIDLength`` is refused with ``StoreError/Code/unsupported``.
public struct StoreCapabilities: Sendable, Hashable {
    /// Whether a write that has returned survives a crash and a power failure.
    public var isDurable: Bool
    /// Whether a read and a write can run at the same time.
    public var hasConcurrentReaders: Bool
    /// Whether several processes can have the store open at the same time.
    public var isMultiProcess: Bool
    /// Whether the store keeps indexes on columns that are declared as indexed.
    public var usesIndexes: Bool
    /// The maximum length of an id in UTF-8 bytes: at least 1020, for 255 characters of 4 bytes.
    public var maxIDLength: Int

    /// Declares capabilities.
    public init(
        isDurable: Bool, hasConcurrentReaders: Bool, isMultiProcess: Bool, usesIndexes: Bool,
        maxIDLength: Int = ItemID.maxUTF8Length
    ) {
        self.isDurable = isDurable
        self.hasConcurrentReaders = hasConcurrentReaders
        self.isMultiProcess = isMultiProcess
        self.usesIndexes = usesIndexes
        self.maxIDLength = maxIDLength
    }
}
