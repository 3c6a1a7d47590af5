// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Why one operation failed, as the error log keeps it until the failure is resolved.
///
/// At most one error exists per operation: a later failure replaces the earlier one.
public struct TableOperationError: Error, Sendable, Hashable, Identifiable {
    /// The id of the operation that failed, which is also the id of the error.
    public let operationID: Int64
    /// The item's table.
    public let table: String
    /// The item's id.
    public let itemID: String
    /// What the operation was doing.
    public let kind: TableOperation.Kind
    /// The item as it was sent; for a delete, as it was before.
    public internal(set) var item: Item?
    /// The server's row, when the failure is a conflict and the server has one. A tombstone means it was deleted.
    public internal(set) var serverItem: Item?
    /// The HTTP status, if the server answered.
    public let status: Int?
    /// The code of the failure.
    public let code: SyncError.Code
    /// A sentence for the reader.
    public let message: String
    /// The operation's revision at the time: a resolution refuses when the operation has moved on since.
    public let revision: Int

    /// The id of the operation.
    public var id: Int64 { operationID }

    /// Whether the server holds another state of the row than the operation was made on.
    public var isConflict: Bool {
        [.preconditionFailed, .itemAlreadyOnServer, .itemNotOnServer].contains(code)
    }

    /// Records a failure.
    public init(
        operationID: Int64, table: String, itemID: String, kind: TableOperation.Kind, item: Item?,
        serverItem: Item?, status: Int?, code: SyncError.Code, message: String, revision: Int
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
    }
}

extension TableOperationError {
    /// Records a failure of the operation as it is now.
    init(
        _ operation: TableOperation, item: Item?, serverItem: Item? = nil, status: Int? = nil,
        code: SyncError.Code, message: String
    ) {
        self.init(
            operationID: operation.id, table: operation.table, itemID: operation.itemID,
            kind: operation.kind, item: item, serverItem: serverItem, status: status, code: code,
            message: message, revision: operation.revision)
    }
}
