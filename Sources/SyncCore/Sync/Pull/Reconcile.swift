// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension SyncContext {
    /// Removes local items that the server no longer has for that query: rows that were deleted without leaving a
    /// tombstone, and rows that were changed so that the filter does not match them any more.
    ///
    /// The ids of all matching rows are fetched. Up to 50 items that are not among them are asked for once more by id; one
    /// that the server still has, and that matches the filter, stays. More of them cannot be asked for one by one, and
    /// are removed only when they are at most half of the query's items, or when `removingMost` says so.
    ///
    /// Items with pending operations stay, and so do items that were written, pulled or pushed while this was running, and
    /// items that the server has never seen. When an item is removed that another incremental pull of the table may
    /// want, or that was not asked for by id, the delta tokens of those pulls are removed with it, so that they bring the
    /// row back if the server has it.
    ///
    /// - Parameters:
    ///   - query: a filter alone, as for a pull.
    ///   - pageSize: how many ids to ask for at a time, 1 to 1000.
    ///   - removingMost: whether more than half of the query's items may be removed.
    /// - Returns: how many items were removed.
    /// - Throws: ``SyncError/Code/reconcileRefused`` when most items would be removed; others as
    ///   ``pull(_:queryID:settings:)``. Nothing is removed then.
    @discardableResult
    public func reconcile(
        _ query: TableQuery, pageSize: Int = 1000, removingMost: Bool = false
    ) async throws -> Int {
        let reconcile = try Reconcile(context: self, query: query, pageSize: pageSize)
        // What may be removed is read before the server is asked: nothing that comes later can be missed.
        let candidates = try await read { snapshot in
            try snapshot.items(matching: query).items.filter { $0.system.version != nil }
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
        return try await reconcile.remove(Reconcile.Removal(items: missing, keepsTokens: .none))
    }
}

/// The steps of ``SyncContext/reconcile(_:pageSize:removingMost:)``.
private struct Reconcile {
    /// How many rows are asked for one by one.
    static let maxSingleRequests = 50

    let context: SyncContext
    let query: TableQuery
    let settings: PullSettings
    let definition: SyncTableDefinition

    /// The items to remove, and what remains of the table's delta tokens.
    struct Removal: Sendable {
        var items: [Item]
        var keepsTokens = KeptTokens.all

        enum KeptTokens: Sendable {
            /// All: no server has the rows any more.
            case all
            /// Those of pulls that ask for the same, which do not want the rows.
            case sameQuery
            case none
        }
    }

    init(context: SyncContext, query: TableQuery, pageSize: Int) throws(SyncError) {
        self.context = context
        self.query = query
        var settings = PullSettings()
        settings.pageSize = pageSize
        try settings.validate()
        self.settings = settings
        definition = try context.definition(of: query.table)
        try query.validateForPull(definition)
        guard query.orderings.isEmpty, query.offset == 0, query.limit == nil else {
            throw .invalidParameter("A reconciling query takes no order, offset or limit.")
        }
    }

    /// The ids of all rows that the server has for the query; those of rows that cannot be read count too.
    func serverIDs() async throws -> Set<UTF8Text> {
        let fetch = PageFetch(
            context: context, definition: definition, onUnreadableRow: .skip, features: .offline,
            selection: ["id"], includesDeleted: false)
        var ids: Set<UTF8Text> = []
        var cursor = PullCursor(query: query, order: .id, settings: settings, token: nil)
        while !cursor.isDone {
            try Task.checkCancellation()
            let page = try await fetch.page(at: cursor)
            ids.formUnion(page.rows.map { UTF8Text($0.item.id) })
            cursor = page.cursor
            do throws(SyncError) {
                try cursor.advance(
                    over: page.rows, isLast: page.isLast, answeredAt: page.date,
                    now: context.environment.now())
            } catch {
                throw SyncError.pullAborted(query.table, error)
            }
        }
        return ids
    }

    /// Asks for each row by id, and leaves out those that the server has and the query matches.
    func confirm(_ items: [Item]) async throws -> Removal {
        var removal = Removal(items: [])
        var reader = WireRowReader(dialect: context.client.dialect, definition: definition)
        for item in items {
            try Task.checkCancellation()
            let call = RemoteCall(
                .read(id: item.id), table: query.table, parameters: query.parameters, features: .offline)
            let answer = try await context.send(call)
            if let failure = answer.failure(of: call, dialect: context.client.dialect) {
                guard failure.code == .itemNotOnServer else {
                    throw SyncError.pullAborted(query.table, failure)
                }
                removal.items.append(item)
            } else if case .row(let fields) = answer.body {
                let row = reader.readPossible(WireObject(fields))
                guard row.problems.isEmpty, !row.item.system.deleted, query.filter?.matches(row.item) == false
                else { continue }
                removal.items.append(item)
                removal.keepsTokens = .sameQuery
            }
        }
        return removal
    }

    /// Removes the items that have not changed meanwhile, and the delta tokens that would keep them from coming back.
    func remove(_ removal: Removal) async throws -> Int {
        let table = query.table
        let binding = try PullBinding.text(
            query: query, definition: definition, server: ServerIdentity(context.client.url),
            dialect: context.client.dialect)
        return try await context.write { transaction in
            let ids = try removal.items.filter { item in
                try transaction.operations(forItem: item.id, in: table).isEmpty
                    && transaction.item(id: item.id, in: table)?.system == item.system
            }.map(\.id)
            guard !ids.isEmpty else { return 0 }
            try transaction.deleteItems(ids: ids, in: table)
            guard removal.keepsTokens != .all else { return ids.count }
            for (key, token) in try transaction.configValues(in: table, kind: .deltaToken) {
                let isSame = DeltaToken.binding(inStoredText: token)?.hasSameBytes(as: binding) == true
                if removal.keepsTokens == .none || !isSame { try transaction.setConfigValue(nil, for: key) }
            }
            return ids.count
        }
    }
}
