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
    /// The row that both changes were made on; `nil` when it is not known, as for inserts and for rows that the app has changed in
    /// its own database.
    public let base: Item?
    /// The local-only columns of the table.
    package private(set) var localOnlyColumns: Set<String> = []

    /// Makes a conflict, for testing resolvers.
    public init(operation: TableOperation, clientItem: Item?, serverItem: Item?) {
        self.operation = operation
        self.clientItem = clientItem
        self.serverItem = serverItem
        base = operation.base
    }

    /// Makes a conflict of an item of the table.
    package init(
        _ operation: TableOperation, clientItem: Item?, serverItem: Item?, definition: SyncTableDefinition
    ) {
        self.init(
            operation: definition.withSyncedFieldsOfAttempt(operation), clientItem: clientItem,
            serverItem: serverItem)
        localOnlyColumns = Set(definition.columns.lazy.filter(\.isLocalOnly).map(\.name))
    }

    /// The state that both changes were made on, as far as it is known: the base, or what an insert has sent, if the server may
    /// have stored it.
    package var ancestor: Item? {
        guard base == nil, let sent = operation.sent, sent.kind == .insert else { return base }
        return Item(id: operation.itemID, fields: sent.fields)
    }

    /// Whether the row was deleted on the server, or the server does not show it.
    public var isDeletedOnServer: Bool { serverItem?.system.deleted ?? true }

    /// Whether the item was deleted on the device.
    public var isDeletedOnClient: Bool { clientItem == nil }
}
