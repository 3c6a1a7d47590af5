// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The settings of a sync context for pushes, conflicts and events.
public struct SyncSettings: Sendable {
    /// Whether an update sends only the fields that differ from the known row of the server.
    ///
    /// Otherwise whole items are sent, and the later of two updates determines every field.
    public var sendsChangedFieldsOnly = true
    /// The maximum number of concurrent operations, of different items; at least 1.
    ///
    /// With 1, the server receives operations in the order of the queue, except that parents and children are
    /// ordered as ``SyncTableDefinition/parents`` requires, and that operations which failed in an earlier
    /// push are last. With more, the order is kept for operations of one item, and of tables that depend on
    /// each other.
    public var maxConcurrentOperations = 1
    /// When requests are sent again after transient failures.
    public var retry = RetryPolicy()
    /// The number of refusals after which an operation is parked: it stays in the queue, every push reports it, and it is
    /// not sent until it is edited, resolved or replayed.
    ///
    /// Refusals are responses of the tables service about this operation. A server error counts too, at the end of a push in
    /// which the server has applied other operations. Conflicts, a missing table, and failures of the network or the service
    /// are not counted.
    public var parkAfterRefusals = 10
    /// Resolves conflicts of tables without an entry in ``resolvers``. Without a resolver, conflicts are errors.
    public var resolver: ConflictResolver?
    /// Resolves conflicts of single tables, by name.
    public var resolvers: [String: ConflictResolver] = [:]
    /// The maximum number of calls of a resolver for one operation in one push or pull, if the server's row keeps changing.
    public var maxResolutions = 5
    /// Receives the events of pushes and pulls, for metrics and traces.
    ///
    /// The push or pull waits for the call, so the handler must return quickly. It may be called from several
    /// tasks at the same time.
    public var onEvent: (@Sendable (SyncEvent) -> Void)?

    /// Makes the default settings: one operation at a time, and conflicts are errors.
    public init() {}

    func resolver(of table: String) -> ConflictResolver? { resolvers[table] ?? resolver }
}
