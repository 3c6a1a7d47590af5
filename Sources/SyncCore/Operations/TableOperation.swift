// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// One pending change of one item, as stored in the operation queue.
///
/// The item itself is stored in its table. The operation stores what the table does not: the server's row that the change
/// was made on (``base``), what was last sent (``sent``), and a newer state of the server's row (``serverItem``).
public struct TableOperation: Sendable, Hashable, Identifiable {
    /// The position in the queue: strictly increasing, never reused.
    public let id: Int64
    /// The item's table.
    public let table: String
    /// The item's id.
    public let itemID: String
    /// What the operation does on the server.
    public package(set) var kind: Kind
    /// Whether the operation was sent, and whether it will be.
    public package(set) var state: State
    /// Increases with every change and attempt. A resolution made for an older revision is refused.
    public package(set) var revision: Int
    /// How many refusals have been counted since the operation was last edited, resolved or replayed: see
    /// ``SyncSettings/parkAfterRefusals``.
    public package(set) var refusals: Int
    /// When the last attempt began, by the client's clock.
    public package(set) var lastAttempt: Timestamp?
    /// The HTTP status of the last attempt's response; `nil` if it got none. While an earlier attempt must not be repeated, the
    /// status is that of its response.
    public package(set) var lastStatus: Int?
    /// The server's row that the change was made on; `nil` for a row that the server does not have.
    public package(set) var base: Item? {
        get { rows?.values.base }
        set { changeRows { $0.base = newValue } }
    }
    /// The version that the change was made on, sent as `If-Match`; `nil` sends no condition.
    public package(set) var version: String?
    /// A newer state of the server's row, possibly a tombstone, that was pulled while the operation was pending.
    public package(set) var serverItem: Item? {
        get { rows?.values.serverItem }
        set { changeRows { $0.serverItem = newValue } }
    }
    /// For a delete: the item as it was, so that cancelling the delete can restore it. For another change: the item that a
    /// foreign key of the app's database has removed.
    public package(set) var deletedItem: Item? {
        get { rows?.values.deletedItem }
        set { changeRows { $0.deletedItem = newValue } }
    }
    /// The exact content of the oldest attempt that the server may have applied, the running one included.
    public package(set) var sent: SentSnapshot? {
        get { rows?.values.sent }
        set { changeRows { $0.sent = newValue } }
    }
    /// Whether an update sends every synced column, with null for those that the item lacks; whether an insert follows this
    /// client's own delete, so that a tombstone is no conflict.
    public package(set) var replaces: Bool

    /// Whether the insert becomes an update if the server has the row already.
    public package(set) var isAdopted: Bool
    /// Whether a delegate has begun to insert the row by its own request, and has not said that it did not. The server may have
    /// the row then, so that a deletion has to be sent.
    public package(set) var isPerformed: Bool
    /// When the user last changed the item, by the client's clock.
    public package(set) var changedAt: Timestamp?

    private(set) var rows: OperationRows?

    /// What an operation does on the server.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Create the row.
        case insert
        /// Change the row.
        case update
        /// Delete the row.
        case delete
    }

    /// Whether an operation was sent, and whether it will be.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// Never sent, or refused: the server has not applied it.
        case pending
        /// It may have been sent, and its outcome is unknown.
        case attempted
        /// Refused too often: not sent until it is changed or replayed.
        case parked
    }

    /// The newest known state of the server's row.
    public var newestServerItem: Item? { serverItem ?? base }

    /// The exact content of an attempt.
    public struct SentSnapshot: Sendable, Hashable {
        /// What was requested.
        public package(set) var kind: Kind
        /// The fields in the body; empty for a delete.
        public package(set) var fields: [String: ItemValue]
        /// The `If-Match` version, if any.
        public package(set) var version: String?

        /// Makes the content of an attempt.
        public init(kind: Kind, fields: [String: ItemValue], version: String?) {
            self.kind = kind
            self.fields = fields
            self.version = version
        }
    }

    /// Makes an operation, for example for the test of a ``ConflictResolver``.
    public init(
        id: Int64, table: String, itemID: String, kind: Kind, state: State = .pending, revision: Int = 0,
        refusals: Int = 0, lastAttempt: Timestamp? = nil, lastStatus: Int? = nil, base: Item? = nil,
        version: String? = nil,
        serverItem: Item? = nil, deletedItem: Item? = nil, sent: SentSnapshot? = nil, replaces: Bool = false,
        isAdopted: Bool = false, isPerformed: Bool = false, changedAt: Timestamp? = nil
    ) {
        self.id = id
        self.table = table
        self.itemID = itemID
        self.kind = kind
        self.state = state
        self.revision = revision
        self.refusals = refusals
        self.lastAttempt = lastAttempt
        self.lastStatus = lastStatus
        self.version = version
        rows = .make(base: base, serverItem: serverItem, deletedItem: deletedItem, sent: sent)
        self.replaces = replaces
        self.isAdopted = isAdopted
        self.isPerformed = isPerformed
        self.changedAt = changedAt
    }
}

extension TableOperation {
    /// Whether the operation has a ``base``, a ``serverItem``, a ``deletedItem`` or a ``sent`` snapshot.
    package var hasRows: Bool { rows != nil }

    private mutating func changeRows(_ change: (inout OperationRows.Values) -> Void) {
        var values = rows?.values ?? OperationRows.Values()
        change(&values)
        rows = .make(
            base: values.base, serverItem: values.serverItem, deletedItem: values.deletedItem,
            sent: values.sent)
    }
}
