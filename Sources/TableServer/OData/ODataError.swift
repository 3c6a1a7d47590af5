// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Why a `$filter` or `$orderby` is not one.
struct ODataError: Error, Hashable, CustomStringConvertible {
    /// The offset of the byte at which reading stopped.
    let offset: Int
    /// What was wrong there.
    let problem: String

    var description: String { "at character \(offset), \(problem)" }
}
