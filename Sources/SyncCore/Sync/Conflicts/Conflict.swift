// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A change of ours that meets a change of somebody else's.
public struct Conflict: Sendable {
    /// The pending operation.
    public let operation: TableOperation
    /// The item on the device; `nil` when it was deleted here.
    public let clientItem: Item?
    /// The server's row, possibly a tombstone; `nil` when the server does not have it, or does not show it.
    public let serverItem: Item?
    /// The row that both changes were made on; `nil` when the device never had one, as for inserts.
    public let base: Item?

    /// Describes a conflict, for testing resolvers.
    public init(operation: TableOperation, clientItem: Item?, serverItem: Item?) {
        self.operation = operation
        self.clientItem = clientItem
        self.serverItem = serverItem
        base = operation.base
    }

    /// Whether the row is gone on the server.
    public var isDeletedOnServer: Bool { serverItem?.system.deleted ?? true }

    /// Whether the item was deleted on the device.
    public var isDeletedOnClient: Bool { clientItem == nil }
}

/// How a conflict ends.
public enum ConflictDecision: Sendable, Hashable {
    /// The server's row is stored, or the item removed if the server has none; the operation is gone.
    case keepServer
    /// The operation is sent again, overruling the server's row as it was shown, and no later one.
    case keepClient
    /// This item is stored and sent, overruling the server's row as it was shown.
    case merge(Item)
    /// Nothing is changed: the operation stays pending, with its error.
    case keepPending
}
