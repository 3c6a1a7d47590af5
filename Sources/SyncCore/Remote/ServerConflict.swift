// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The cause of an error when the server's row has another state than the request expects.
public struct ServerConflict: Error, Sendable, Hashable {
    /// The server's row, if the response contains it. Otherwise read it with ``RemoteTable/read(id:parameters:)``.
    public let item: Item?

    /// Makes a cause.
    public init(item: Item?) {
        self.item = item
    }
}

extension ServerConflict: CustomStringConvertible {
    /// Names the row without its fields.
    public var description: String {
        item.map { "The server has another state of the row '\($0.id)'." }
            ?? "The server has another state of the row."
    }
}
