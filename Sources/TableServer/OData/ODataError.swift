// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A syntax error in a `$filter` or `$orderby`.
struct ODataError: Error, Hashable, CustomStringConvertible {
    /// The byte offset at which parsing stopped.
    let offset: Int
    /// What is wrong at this offset.
    let problem: String

    var description: String { "at character \(offset), \(problem)" }
}
