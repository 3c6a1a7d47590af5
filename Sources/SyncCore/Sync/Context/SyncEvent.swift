// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// What a sync context has done, for metrics and traces: see ``SyncSettings/onEvent``.
///
/// Events hold names of tables, fixed words, counts and durations. They never hold ids or fields of items, query IDs,
/// tokens or filters, so every property except counts and durations can be a dimension of a metric.
///
/// Later versions add cases: a `switch` needs a `default`.
public enum SyncEvent: Sendable, Hashable {
    /// A request of a push or pull received a response, or failed without one.
    case request(Request)
    /// A request failed, and is sent again after a wait.
    case retry(Retry)
    /// A conflict was decided, or left pending.
    case conflict(ConflictDecided)
    /// An operation was parked: it is not sent until it is edited, resolved or replayed.
    case parked(Parked)
    /// A push ended.
    case pushEnded(PushEnded)
    /// A page of a pull was stored.
    case pageStored(PageStored)
    /// A row of the server cannot be read and was not stored, or a stored item cannot be read as its model.
    case rowUnreadable(table: String)
    /// A pull ended.
    case pullEnded(PullEnded)
    /// A round of an automatic sync ended: a push, and the pulls that were due.
    case roundEnded(RoundEnded)

    /// What a request asks the server to do.
    public enum RequestKind: String, Sendable, Hashable, CaseIterable {
        /// Create a row.
        case insert
        /// Change a row.
        case update
        /// Delete a row.
        case delete
        /// Restore a deleted row.
        case undelete
        /// Return one row.
        case read
        /// Return a page of rows.
        case query
    }

    /// One request and its response.
    public struct Request: Sendable, Hashable {
        /// The table of the request.
        public let table: String
        /// What the request asks for.
        public let kind: RequestKind
        /// The HTTP status; `nil` when no response arrived.
        public let status: Int?
        /// From the request to its response. A refresh of the token and the request repeated with it are included.
        public let duration: Duration

        /// `2xx`, `3xx`, `4xx`, `5xx`, or `none` when no response arrived.
        public var statusClass: String { SyncEvent.statusClass(of: status) }
    }

    /// A wait before a request is sent again.
    public struct Retry: Sendable, Hashable {
        /// The table of the request.
        public let table: String
        /// What the request asks for.
        public let kind: RequestKind
        /// The HTTP status of the response; `nil` when no response arrived.
        public let status: Int?
        /// How often the request has failed so far.
        public let attempt: Int
        /// The wait.
        public let delay: Duration

    }

    /// The decision about a conflict.
    public struct ConflictDecided: Sendable, Hashable {
        /// The table of the item.
        public let table: String
        /// What the operation does.
        public let kind: TableOperation.Kind
        /// The decision.
        public let decision: Decision

        /// A decision without its item: see ``ConflictDecision``.
        public enum Decision: String, Sendable, Hashable, CaseIterable {
            /// The server's row was stored.
            case keepServer
            /// The change of the device is sent again.
            case keepClient
            /// A merged item is stored and sent.
            case merge
            /// The operation stays pending.
            case keepPending
        }
    }

    /// A parked operation.
    public struct Parked: Sendable, Hashable {
        /// The table of the item.
        public let table: String
        /// What the operation does.
        public let kind: TableOperation.Kind
        /// The HTTP status of the last refusal.
        public let status: Int?
    }

    /// How a push or pull ended.
    public enum Outcome: String, Sendable, Hashable, CaseIterable {
        /// It ended without errors.
        case completed
        /// It reached its end, but operations failed.
        case completedWithErrors
        /// It ended early, with an error.
        case aborted
        /// It ended early, because its task was cancelled.
        case cancelled
    }

    /// How an operation of a push ended.
    public enum OperationOutcome: String, Sendable, Hashable, CaseIterable {
        /// The server has the change, or a resolver or the delegate has decided for the server's row.
        case completed
        /// The server has another state of the row.
        case conflict
        /// The operation failed, and stays pending or was parked: see ``SyncEvent/parked(_:)``.
        case failed
        /// The server may or may not have applied the operation.
        case ambiguous
    }

    /// Operations that are counted together.
    public struct OperationGroup: Sendable, Hashable {
        /// Their table.
        public let table: String
        /// What they do.
        public let kind: TableOperation.Kind
        /// How they ended.
        public let outcome: OperationOutcome
    }

    /// The end of a push.
    public struct PushEnded: Sendable, Hashable {
        /// How the push ended.
        public let outcome: Outcome
        /// The number of operations by table, kind and outcome.
        public let operations: [OperationGroup: Int]
        /// From the beginning of the push to its end.
        public let duration: Duration
    }

    /// The rows of a page or of a whole pull.
    public struct RowCounts: Sendable, Hashable {
        /// Rows that were stored.
        public let upserted: Int
        /// Items that were removed because the server's row is deleted.
        public let deleted: Int
        /// Rows that the store already has.
        public let unchanged: Int
        /// Rows of items that have pending operations.
        public let skippedAsPending: Int
    }

    /// A stored page.
    public struct PageStored: Sendable, Hashable {
        /// The table of the pull.
        public let table: String
        /// The rows of the page.
        public let rows: RowCounts
    }

    /// The end of a pull.
    public struct PullEnded: Sendable, Hashable {
        /// The table of the pull.
        public let table: String
        /// How the pull ended.
        public let outcome: Outcome
        /// The rows of all pages.
        public let rows: RowCounts
        /// From the beginning of the pull to its end.
        public let duration: Duration
    }

    /// Why a round of an automatic sync began.
    public enum RoundCause: String, Sendable, Hashable, CaseIterable {
        /// The automatic sync began.
        case start
        /// The app has changed items.
        case localChange
        /// A plan repeats.
        case interval
        /// The server has changes.
        case serverHint
        /// The app came to the foreground.
        case foreground
        /// The network is available again.
        case network
        /// The user has signed in.
        case signedIn
        /// A part of an earlier round failed, or was cancelled.
        case retry
        /// The app or the user requested the round.
        case request
        /// The app is about to be suspended. The round only pushes.
        case finish
    }

    /// The end of a round of an automatic sync.
    public struct RoundEnded: Sendable, Hashable {
        /// Why the round began.
        public let cause: RoundCause
        /// How the round ended.
        public let outcome: Outcome
        /// From the beginning of the round to its end.
        public let duration: Duration
    }

    private static func statusClass(of status: Int?) -> String { status.map { "\($0 / 100)xx" } ?? "none" }
}
