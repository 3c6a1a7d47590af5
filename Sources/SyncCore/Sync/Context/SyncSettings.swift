// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// How a sync context pushes and resolves conflicts.
public struct SyncSettings: Sendable {
    /// Whether an update sends only the fields that differ from the server's row, when that is known.
    ///
    /// Otherwise whole items are sent, and the later of two updates decides every field.
    public var sendsChangedFieldsOnly = true
    /// How many operations, of different items, may be on their way at the same time; at least 1.
    ///
    /// With 1, operations arrive in the order of the queue. With more, only those of one item do, and those of tables
    /// that depend on each other: see ``SyncTableDefinition/parents``.
    public var maxConcurrentOperations = 1
    /// When to ask again after a failure that may pass.
    public var retry = RetryPolicy()
    /// After how many refusals by the server an operation is parked: it stays listed, every push names it, and it is
    /// not sent until it is edited, resolved or replayed.
    ///
    /// Only answers of the tables service about this operation count: not conflicts, which wait for a decision, and
    /// not failures of the network or the service.
    public var parkAfterRefusals = 10
    /// Decides conflicts of tables that have no resolver of their own; without one, conflicts are errors.
    public var resolver: ConflictResolver?
    /// Decides conflicts of single tables, by their names.
    public var resolvers: [String: ConflictResolver] = [:]
    /// How often a resolver is asked about one operation in one push or pull while the server's row keeps changing.
    public var maxResolutions = 5
    /// Receives the events of pushes and pulls, for metrics and traces.
    ///
    /// The context calls it while a push or pull waits: it returns quickly, and does not call the context. With several
    /// concurrent operations it is called from several tasks at a time.
    public var onEvent: (@Sendable (SyncEvent) -> Void)?

    /// The default settings: one operation at a time, and conflicts are errors.
    public init() {}

    func resolver(of table: String) -> ConflictResolver? { resolvers[table] ?? resolver }
}
