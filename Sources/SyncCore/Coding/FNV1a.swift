// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The 64-bit FNV-1a hash, which is the same in every process and on every machine.
package enum FNV1a {
    /// The hash of no bytes.
    package static let start: UInt64 = 0xcbf2_9ce4_8422_2325
    package static let prime: UInt64 = 0x100_0000_01b3

    /// Returns the hash of the bytes, appended to those of another hash.
    package static func hash(_ bytes: some Sequence<UInt8>, after hash: UInt64 = start) -> UInt64 {
        // A loop over a generic sequence takes many times as long.
        bytes.withContiguousStorageIfAvailable { $0.reduce(hash, appending) } ?? bytes.reduce(hash, appending)
    }

    private static func appending(_ hash: UInt64, _ byte: UInt8) -> UInt64 {
        (hash ^ UInt64(byte)) &* prime
    }
}
