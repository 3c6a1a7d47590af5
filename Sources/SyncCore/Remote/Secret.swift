// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A string that printing and dumping do not reveal.
struct Secret: Sendable, CustomStringConvertible, CustomReflectable {
    let text: String

    var description: String { "<hidden>" }
    var customMirror: Mirror { Mirror(self, children: []) }
}
