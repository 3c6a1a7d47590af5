// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

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
