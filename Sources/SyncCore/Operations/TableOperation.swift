// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// One pending change of one item, as the operation queue keeps it.
///
/// The item itself stays in its table; the operation keeps what the table cannot: the server's row that the change
/// was made on (``base``), what was last sent (``sent``), and what the server was seen to have since
/// (``serverItem``).
public struct TableOperation: Sendable, Hashable, Identifiable {
    /// The place in the queue: strictly increasing, never reused.
    public let id: Int64
    /// The item's table.
    public let table: String
    /// The item's id.
    public let itemID: String
    /// What to do on the server.
    public var kind: Kind
    /// How far the operation has come.
    public var state: State
    /// Goes up with every change and every attempt, so that a decision made on an older state is noticed.
    public var revision: Int
    /// How many attempts the server has refused since the change was last edited: see
    /// ``SyncSettings/parkAfterRefusals``.
    public var attempts: Int
    /// When the last attempt began, by the client's clock.
    public var lastAttempt: Timestamp?
    /// The HTTP status that the last attempt was answered with, if any.
    public var lastStatus: Int?
    /// The server's row that the change was made on; `nil` for a row that the server has not seen.
    public var base: Item?
    /// The version the change was made on, sent as `If-Match`; `nil` sends no condition.
    public var version: String?
    /// A newer state of the server's row, possibly a tombstone, that a pull brought while this was pending.
    public var serverItem: Item?
    /// For a delete: the item as it was, so that a cancelled delete can bring it back.
    public var deletedItem: Item?
    /// The exact content of the last attempt whose answer is unknown.
    public var sent: SentSnapshot?
    /// Whether fields of the base that the item lacks are to be sent as null, because the item was replaced.
    public var replaces: Bool

    /// Whether an insert gives way to an update when the server turns out to have the row.
    public var isAdopted: Bool
    /// When the user last changed the item, by the client's clock.
    public var changedAt: Timestamp?

    /// What an operation does on the server.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Create the row.
        case insert
        /// Change the row.
        case update
        /// Delete the row.
        case delete
    }

    /// How far an operation has come.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// Never sent, or definitely refused: the server has not applied it.
        case pending
        /// Sent; whether the server applied it is unknown.
        case attempted
        /// Set aside after too many failures; not sent until it is changed or replayed.
        case parked
    }

    /// The newest state of the server's row that this client knows.
    public var newestServerItem: Item? { serverItem ?? base }

    /// The exact content of an attempt.
    public struct SentSnapshot: Sendable, Hashable {
        /// What was asked.
        public var kind: Kind
        /// The fields in the body; empty for a delete.
        public var fields: [String: ItemValue]
        /// The `If-Match` version, if any.
        public var version: String?

        /// Records an attempt.
        public init(kind: Kind, fields: [String: ItemValue], version: String?) {
            self.kind = kind
            self.fields = fields
            self.version = version
        }
    }

    /// Makes an operation that was never sent.
    public init(
        id: Int64, table: String, itemID: String, kind: Kind, state: State = .pending, revision: Int = 0,
        attempts: Int = 0, lastAttempt: Timestamp? = nil, lastStatus: Int? = nil, base: Item? = nil,
        version: String? = nil,
        serverItem: Item? = nil, deletedItem: Item? = nil, sent: SentSnapshot? = nil, replaces: Bool = false,
        isAdopted: Bool = false, changedAt: Timestamp? = nil
    ) {
        self.id = id
        self.table = table
        self.itemID = itemID
        self.kind = kind
        self.state = state
        self.revision = revision
        self.attempts = attempts
        self.lastAttempt = lastAttempt
        self.lastStatus = lastStatus
        self.base = base
        self.version = version
        self.serverItem = serverItem
        self.deletedItem = deletedItem
        self.sent = sent
        self.replaces = replaces
        self.isAdopted = isAdopted
        self.changedAt = changedAt
    }
}
