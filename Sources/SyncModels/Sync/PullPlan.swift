// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import SyncCore

/// A pull to run: its query, its query ID, its settings, and how often to repeat it.
public struct PullPlan: Sendable, Hashable {
    /// The rows to pull.
    public let query: TableQuery
    /// The given query ID; without one, ``queryID`` is a fingerprint of the query.
    public let id: String?
    /// How often an ``AutoSync`` repeats the pull while the app is in the foreground; `nil` does not repeat it.
    public let interval: Duration?
    /// The settings of the pull. A sync pushes first and pulls rows beside pending operations, whatever
    /// ``SyncCore/PullSettings/pending`` says.
    public var settings = PullSettings()
    let unmapped: UnmappedProperty?
    /// The name of the model, for messages.
    let model: String?

    /// Makes a plan to pull the rows that match the query.
    ///
    /// - Parameters:
    ///   - query: the rows to pull.
    ///   - id: the query ID; by default one that equal queries have.
    ///   - interval: how often an ``AutoSync`` repeats the pull while the app is in the foreground.
    public init(_ query: TableQuery, id: String? = nil, every interval: Duration? = nil) {
        self.init(query, id: id, every: interval, unmapped: nil, model: nil)
    }

    init(
        _ query: TableQuery, id: String?, every interval: Duration?, unmapped: UnmappedProperty?,
        model: String?
    ) {
        var query = query
        query.includesTotalCount = false
        // All matching rows are pulled, so their order does not matter.
        if query.limit == nil, query.offset == 0 { query.orderings = [] }
        self.query = query
        self.id = id
        self.interval = interval
        self.unmapped = unmapped
        self.model = model
    }

    /// The query ID of the pull: the one given, or else a fingerprint of the query. `nil` for a query with an
    /// offset or a limit, whose pulls are not incremental.
    ///
    /// - Throws: ``SyncError/Code/filterNotSupported`` if the server cannot evaluate the query.
    public var queryID: String? {
        get throws(SyncError) {
            if let unmapped { throw unmapped.error }
            if let id { return id }
            guard query.limit == nil, query.offset == 0 else { return nil }
            return try query.fingerprint
        }
    }
}

extension ModelQuery {
    /// Returns a plan to pull the matching rows, for `SyncContext.sync`.
    ///
    /// - Parameters:
    ///   - id: the query ID; by default one that equal queries have, so that pulls are incremental. A query with an offset or a
    ///     limit has none, and every pull of it receives all rows.
    ///   - interval: how often an ``AutoSync`` repeats the pull while the app is in the foreground.
    public func pull(id: String? = nil, every interval: Duration? = nil) -> PullPlan {
        PullPlan(raw, id: id, every: interval, unmapped: unmapped, model: "\(Model.self)")
    }
}
