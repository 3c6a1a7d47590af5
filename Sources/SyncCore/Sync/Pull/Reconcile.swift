// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension SyncContext {
    /// Removes local items that the server no longer has for the query: rows that were deleted without leaving a
    /// tombstone, and rows that no longer match the filter.
    ///
    /// The ids of all matching rows are fetched. Up to 50 items that are not among them are requested again by id; an item
    /// that the server still has, and that matches the filter, stays. More of them are not requested one by one: they are
    /// removed only when they are at most half of the query's items, or when `removingMost` is set.
    ///
    /// Items with pending operations stay, and so do items that were written, pulled or pushed during the call, and items
    /// that the server has never returned. When another incremental pull of the table may select a removed item, or when
    /// the item was not requested by id, the delta tokens of those pulls are removed too, so that they pull the row again if
    /// the server has it.
    ///
    /// - Parameters:
    ///   - query: a filter alone, as for a pull.
    ///   - pageSize: how many ids to request per page, 1 to 1000.
    ///   - removingMost: whether more than half of the query's items may be removed.
    /// - Returns: how many items were removed.
    /// - Throws: ``SyncError/Code/reconcileRefused`` when most items would be removed, or when a foreign key would remove an item
    ///   with a pending change; others as ``pull(_:queryID:settings:)``. Nothing is removed then.
    @discardableResult
    public func reconcile(
        _ query: TableQuery, pageSize: Int = 1000, removingMost: Bool = false
    ) async throws -> Int {
        let reconcile = try Reconcile(query, pageSize: pageSize, in: self)
        // The candidates are read before the request: a row inserted later is not among them.
        let candidates = try await read { snapshot in
            try snapshot.items(matching: query).items.filter(\.system.isOfServer)
        }
        let present = try await reconcile.serverIDs()
        let missing = candidates.filter { !present.contains(UTF8Text($0.id)) }
        if missing.count <= Reconcile.maxSingleRequests {
            return try await reconcile.remove(try await reconcile.confirm(missing))
        }
        guard removingMost || missing.count * 2 <= candidates.count else {
            throw SyncError(
                .reconcileRefused,
                "The server lists \(candidates.count - missing.count) of \(candidates.count) items of "
                    + "'\(query.table)': most would be removed. Check the query and the server, then reconcile "
                    + "with 'removingMost', or pull without a query ID.")
        }
        return try await reconcile.remove(Reconcile.Removal(items: missing, keptTokens: .none))
    }
}

/// The steps of ``SyncContext/reconcile(_:pageSize:removingMost:)``.
private struct Reconcile {
    /// Above this number, missing items are not requested one by one.
    static let maxSingleRequests = 50

    let context: SyncContext
    /// Reads the ids of the query's rows.
    let pull: ValidatedPull

    /// The items to remove, and the delta tokens that stay valid without them.
    struct Removal {
        var items: [Item]
        var keptTokens = KeptTokens.all

        enum KeptTokens {
            /// The server has none of the rows.
            case all
            /// The server has one of the rows, which does not match this query.
            case sameQuery
            /// The server may have the rows.
            case none
        }
    }

    init(_ query: TableQuery, pageSize: Int, in context: SyncContext) throws(SyncError) {
        self.context = context
        var settings = PullSettings()
        settings.pageSize = pageSize
        pull = try ValidatedPull(query, queryID: nil, settings: settings, in: context)
        try query.requireFilterOnly("A reconciliation")
    }

    private var query: TableQuery { pull.query }

    /// Returns the ids of all rows that the server has for the query, unreadable rows included.
    func serverIDs() async throws -> Set<UTF8Text> {
        let request = PageRequest(context: context, pull: pull, selection: ["id"], includesTombstones: false)
        var ids: Set<UTF8Text> = []
        var cursor = PullCursor(query: query, order: pull.order, settings: pull.settings, token: nil)
        while !cursor.isDone {
            try Task.checkCancellation()
            let page = try await request.page(at: cursor)
            ids.formUnion(page.rows.map { UTF8Text($0.item.id) })
            cursor = page.cursor
            // Rows are removed only after an empty page, not after one that the server calls the last.
            try cursor.advance(over: page, endsAtLastPage: false)
        }
        return ids
    }

    /// Requests each item by id, and keeps those that the server has and the query matches.
    func confirm(_ items: [Item]) async throws -> Removal {
        var removal = Removal(items: [])
        let dialect = context.client.dialect
        var reader = WireRowReader(dialect: dialect, definition: pull.definition)
        for item in items {
            try Task.checkCancellation()
            let call = RemoteCall(
                .read(id: item.id), table: query.table, parameters: query.parameters, features: .offline)
            let response = try await context.sendInPull(call)
            if let failure = response.failure(
                of: call, dialect: dialect, now: context.environment.now())
            {
                guard failure.code == .itemNotOnServer else {
                    throw SyncError.pullAborted(query.table, failure)
                }
                removal.items.append(item)
                // With other parameters, the server may show the row to other queries.
                if !query.parameters.isEmpty { removal.keptTokens = .sameQuery }
            } else if case .row(let fields) = response.body, !response.lacksMalformedValues {
                let row = reader.readRecordingProblems(WireObject(fields))
                guard row.problems.isEmpty, !row.item.system.deleted, query.filter?.matches(row.item) == false
                else { continue }
                removal.items.append(item)
                removal.keptTokens = .sameQuery
            }
        }
        return removal
    }

    /// Removes the items that have not changed since, and the delta tokens that would keep them from being pulled again.
    func remove(_ removal: Removal) async throws -> Int {
        let (table, definition, binding) = (query.table, pull.definition, pull.binding)
        let cascade = CascadedRemoval(of: table, in: context.store.dataSource)
        return try await context.write { transaction in
            let ids = try removal.items.filter { item in
                try transaction.operations(forItem: item.id, in: table).isEmpty
                    && transaction.readableItem(id: item.id, in: definition) == item
            }.map(\.id)
            guard !ids.isEmpty else { return 0 }
            let removedFurtherRows = try cascade.remove(in: transaction, refusal: .reconcileRefused) {
                try transaction.deleteItems(ids: ids, in: table)
                return ids.count
            }
            try transaction.recordPurge(of: table) { token in
                let isSameQuery = DeltaToken.binding(inStoredText: token)?.hasSameBytes(as: binding) == true
                return removedFurtherRows || removal.keptTokens == .none
                    || removal.keptTokens == .sameQuery && !isSameQuery
            }
            return ids.count
        }
    }
}
