// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A pending change of an item whose row was changed on the server by another client.
public struct Conflict: Sendable {
    /// The pending operation.
    public let operation: TableOperation
    /// The item on the device; `nil` when it was deleted there.
    public let clientItem: Item?
    /// The server's row, possibly a tombstone; `nil` when the server does not have it, or does not return it.
    public let serverItem: Item?
    /// The row that both changes were made on; `nil` when the device never had one, as for inserts.
    public let base: Item?

    /// Makes a conflict, for testing resolvers.
    public init(operation: TableOperation, clientItem: Item?, serverItem: Item?) {
        self.operation = operation
        self.clientItem = clientItem
        self.serverItem = serverItem
        base = operation.base
    }

    /// Whether the row was deleted on the server.
    public var isDeletedOnServer: Bool { serverItem?.system.deleted ?? true }

    /// Whether the item was deleted on the device.
    public var isDeletedOnClient: Bool { clientItem == nil }
}

/// How to resolve a conflict.
public enum ConflictDecision: Sendable, Hashable {
    /// Stores the server's row, or removes the item if the server has none, and removes the operation.
    case keepServer
    /// Sends the operation again, overwriting the server's row in the state shown, and no later one.
    case keepClient
    /// Stores and sends this item, overwriting the server's row in the state shown.
    case merge(Item)
    /// Changes nothing: the operation stays pending, with its error.
    case keepPending
}
