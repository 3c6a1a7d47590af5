// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A text that must not be shown: neither printing nor dumping reveals it.
struct Secret: Sendable, CustomStringConvertible, CustomReflectable {
    let text: String

    var description: String { "<hidden>" }
    var customMirror: Mirror { Mirror(self, children: []) }
}
