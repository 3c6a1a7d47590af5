// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The failure of one operation, stored in the error log until it is resolved.
///
/// An operation has at most one error: a later failure replaces an earlier one.
public struct TableOperationError: Error, Sendable, Hashable, Identifiable {
    /// The id of the operation that failed, which is also the id of the error.
    public let operationID: Int64
    /// The item's table.
    public let table: String
    /// The item's id.
    public let itemID: String
    /// What the operation does on the server.
    public let kind: TableOperation.Kind
    /// The item as it was sent; for a delete, as it was before the deletion.
    public package(set) var item: Item?
    /// The server's row, if the failure is a conflict and the server has one and shows it. A tombstone shows that it was
    /// deleted.
    public internal(set) var serverItem: Item?
    /// The HTTP status of the response, if there was one.
    public let status: Int?
    /// The code of the failure.
    public let code: SyncError.Code
    /// A sentence about what happened.
    public let message: String
    /// The operation's revision when it failed. A resolution is refused when the operation has another one.
    public let revision: Int
    /// The id of the operation that has to be sent first, if the code is ``SyncError/Code/operationHeld``.
    public let heldBy: Int64?

    /// The id of the operation.
    public var id: Int64 { operationID }

    /// Whether the server holds another state of the row than the operation was made on.
    public var isConflict: Bool {
        [.preconditionFailed, .itemAlreadyOnServer, .itemNotOnServer].contains(code)
    }

    /// Makes an error.
    package init(
        operationID: Int64, table: String, itemID: String, kind: TableOperation.Kind, item: Item?,
        serverItem: Item?, status: Int?, code: SyncError.Code, message: String, revision: Int,
        heldBy: Int64? = nil
    ) {
        self.operationID = operationID
        self.table = table
        self.itemID = itemID
        self.kind = kind
        self.item = item
        self.serverItem = serverItem
        self.status = status
        self.code = code
        self.message = message
        self.revision = revision
        self.heldBy = heldBy
    }
}

extension TableOperationError: CustomStringConvertible {
    /// The operation, the message and the code; no fields of items.
    public var description: String {
        "\(kind) of '\(itemID)' in '\(table)': \(message)\(code.suffix)"
    }
}

extension TableOperationError {
    /// Makes the error of an operation as it is now.
    init(
        _ operation: TableOperation, item: Item?, serverItem: Item? = nil, status: Int? = nil,
        code: SyncError.Code, message: String, heldBy: Int64? = nil
    ) {
        self.init(
            operationID: operation.id, table: operation.table, itemID: operation.itemID,
            kind: operation.kind, item: item, serverItem: serverItem, status: status, code: code,
            message: message, revision: operation.revision, heldBy: heldBy)
    }

    /// Makes the error of an operation for which the delegate threw this error.
    ///
    /// - Parameter status: the status of the server's response before.
    init(
        _ operation: TableOperation, item: Item?, serverItem: Item? = nil, delegateError error: any Error,
        status: Int? = nil
    ) {
        self.init(
            operation, item: item, serverItem: serverItem, status: status,
            code: (error as? SyncError)?.code ?? .invalidOperation,
            message: (error as? SyncError)?.message ?? error.textWithoutURL)
    }

    /// Returns the error of an operation that waits for another operation.
    static func held(
        _ operation: TableOperation, by first: TableOperation, item: Item?
    ) -> TableOperationError {
        TableOperationError(
            operation, item: item ?? operation.deletedItem, code: .operationHeld,
            message: """
                The \(operation.kind) waits for the \(first.kind) of '\(first.itemID)' in '\(first.table)' \
                (operation \(first.id)), which the server must have first.
                """, heldBy: first.id)
    }

    /// Whether no request was sent: the app no longer declares the table, or the item is missing.
    var isAboutUnsentOperation: Bool { [.unknownTable, .expectedItem].contains(code) }

    /// Returns the error of an operation of a table that the app no longer declares.
    static func undeclaredTable(_ operation: TableOperation) -> TableOperationError {
        TableOperationError(
            operation, item: nil, code: .unknownTable,
            message: "The store was opened without the table '\(operation.table)'.")
    }

    /// Returns the conflict of an operation whose row was changed on the server, as a pull has found.
    static func foundByPull(_ operation: TableOperation, item: Item?) -> TableOperationError {
        let code = InsertConflict.code(for: operation.kind)
        return TableOperationError(
            operation, item: item ?? operation.deletedItem, serverItem: operation.serverItem, code: code,
            message: ConflictMessage.text(code, serverItem: operation.serverItem))
    }

    /// Returns the same failure for the operation and its item as they are now: with the change behind the operation, because
    /// a decision is about both.
    func updated(
        for operation: TableOperation, in snapshot: some StoreSnapshot, _ definition: SyncTableDefinition
    ) throws -> TableOperationError {
        guard revision != operation.revision else { return self }
        let item = try snapshot.readableItem(id: itemID, in: definition)
        var current = operation
        if let behind = try snapshot.operation(behind: operation),
            case .replace(let merged) = TableOperation.merge(operation, with: behind)
        {
            current = merged
            current.revision = operation.revision
        }
        return TableOperationError(
            current, item: item ?? current.deletedItem, serverItem: serverItem, status: status,
            code: code, message: message, heldBy: heldBy)
    }

    /// Returns the same failure with another message.
    func replacingMessage(_ message: String) -> TableOperationError {
        TableOperationError(
            operationID: operationID, table: table, itemID: itemID, kind: kind, item: item,
            serverItem: serverItem, status: status, code: code, message: message, revision: revision,
            heldBy: heldBy)
    }
}
