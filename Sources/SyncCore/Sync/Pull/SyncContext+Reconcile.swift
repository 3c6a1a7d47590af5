// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension SyncContext {
    /// Removes local items that the server no longer has for that query: rows that were deleted without leaving a
    /// tombstone, and rows that were changed so that the filter does not match them any more.
    ///
    /// Only the ids are fetched. Items with pending operations stay, and so do items that were written, pulled or pushed
    /// while this was running, and items that the server has never seen.
    ///
    /// - Parameter query: a filter alone, as for a pull.
    /// - Returns: how many items were removed.
    /// - Throws: as ``pull(_:queryID:settings:)``; nothing is removed then.
    @discardableResult
    public func reconcile(_ query: TableQuery, pageSize: Int = 1000) async throws -> Int {
        var settings = PullSettings()
        settings.pageSize = pageSize
        let pages = PullPages(context: self, query: query, queryID: nil, settings: settings)
        let definition = try definition(of: query.table)
        try pages.validate(definition)
        guard pages.order == .id, query.limit == nil else {
            throw SyncError.invalidParameter("A reconciling query takes no order, offset or limit.")
        }
        // What is removed is decided before the server is asked: nothing that comes later can be missed.
        let candidates = try await read { snapshot in
            try snapshot.items(matching: query).items.filter { $0.system.version != nil }
        }
        let present = try await serverIDs(query, settings: settings)
        let absent = candidates.filter { !present.contains(ExactText($0.id)) }
        return try await write { transaction in
            let doomed = try absent.filter { item in
                try transaction.operations(forItem: item.id, in: query.table).isEmpty
                    && transaction.item(id: item.id, in: query.table)?.system == item.system
            }
            try transaction.deleteItems(ids: doomed.map(\.id), in: query.table)
            return doomed.count
        }
    }

    private func serverIDs(_ query: TableQuery, settings: PullSettings) async throws -> Set<ExactText> {
        var ids: Set<ExactText> = []
        var cursor = PullCursor(query: query, order: .id, settings: settings, token: nil)
        while !cursor.isDone {
            try Task.checkCancellation()
            var page = cursor.nextPage
            page.selection = ["id"]
            let call = RemoteCall(
                .query(try page.odata(client.dialect), includesDeleted: false), table: query.table,
                parameters: query.parameters, features: .offline)
            let rows = try await askForPage(call).rows
            var reader = WireRowReader(dialect: client.dialect, definition: nil)
            let found = try rows.map { PulledRow(item: try reader.read($0).item, updatedAtText: nil) }
            ids.formUnion(found.map { ExactText($0.item.id) })
            cursor.advance(over: found, answeredAt: nil)
        }
        return ids
    }
}
