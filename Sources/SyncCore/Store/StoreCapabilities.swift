// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// What a store can do beyond the contract, and where its limits are.
///
/// A store declares the truth: using a power it does not declare throws ``StoreError/Code/unsupported``.
public struct StoreCapabilities: Sendable, Hashable {
    /// Whether a write that returned survives the process and the power supply.
    public var isDurable: Bool
    /// Whether a read and a write can run at the same time.
    public var hasConcurrentReaders: Bool
    /// Whether several processes may have the store open at the same time.
    public var isMultiProcess: Bool
    /// Whether columns declared as indexed make queries on them faster.
    public var usesIndexes: Bool
    /// The longest id, in UTF-8 bytes. At least 255 characters of 4 bytes: 1020.
    public var maxIDLength: Int

    /// Declares what a store can do.
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
