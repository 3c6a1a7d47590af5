// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// The text of an SQL statement and its arguments. Values from requests are always arguments.
struct SQLText: Sendable {
    /// An argument of a statement.
    enum Argument: Sendable {
        case integer(Int64)
        case text(String)
        /// A value that the functions of filters take.
        case value(ItemValue)
    }

    private(set) var text = ""
    private(set) var arguments: [Argument] = []

    mutating func append(_ text: String) { self.text += text }

    mutating func append(_ argument: Argument) {
        arguments.append(argument)
        text += "?"
    }
}
