// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The cause of an error that a call ended with because the server's row is another one than expected.
public struct ServerConflict: Error, Sendable, Hashable {
    /// The server's row, when the answer carries it; otherwise it can be read.
    public let item: Item?

    /// Makes the cause.
    public init(item: Item?) {
        self.item = item
    }
}

extension ServerConflict: CustomStringConvertible {
    /// Which row it is; never its fields.
    public var description: String {
        item.map { "the server has another row '\($0.id)'" } ?? "the server has another row"
    }
}
