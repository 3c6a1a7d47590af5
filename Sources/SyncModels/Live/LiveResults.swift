// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

@_spi(StoreAuthor) public import SyncCore

extension ModelTable {
    /// Returns the pages of a query: the current one, and a new one after each commit that changes it.
    ///
    /// ```swift
    /// for try await page in context.table(Todo.self).live(Todo.where { !$0.complete }) { show(page) }
    /// ```
    ///
    /// Each page is one state of the store, and a later page is never an earlier state. A reader that is busy receives the
    /// newest page. A single change is read at once; in a long series of commits, a few pages a second are. New versions
    /// of a row alone are no change, unless the model has a ``Field/system(_:)`` or ``Field/unknown(_:)`` field, or the query
    /// asks for them.
    ///
    /// The sequence ends when the context closes or the task is cancelled.
    ///
    /// - Parameter throttle: the minimum time between two pages, for a view that need not show every change at once.
    /// - Throws: while iterating, the errors of ``fetch(_:)``.
    public func live(
        _ query: ModelQuery<Model> = Model.all, throttle: Duration = .zero
    ) -> LiveResults<Model> {
        LiveResults(context: context, query: query, throttle: throttle)
    }
}

/// The sequence of a query's pages: see ``ModelTable/live(_:throttle:)``.
public struct LiveResults<Model: SyncModel>: AsyncSequence, Sendable {
    let context: SyncContext
    let query: ModelQuery<Model>
    let throttle: Duration
    var followsStates = false

    /// Returns the same sequence with the sync states of the rows. A new state is a new page.
    public func withSyncStates() -> LiveResults {
        var copy = self
        copy.followsStates = true
        return copy
    }

    /// The query of the table, with the columns of the model only, as ``ModelTable/fetch(_:)`` reads them: another column may
    /// have a value that cannot be read.
    private var rows: TableQuery {
        var rows = query.raw
        guard let table = try? context.catalog.table(named: rows.table) else { return rows }
        let names = Set(Model.schema.columnNames)
        let mapped = table.columns.map(\.name).filter(names.contains)
        // No selection if all columns are mapped: with one, an observer reads after more commits. An empty one selects all.
        if mapped.count < table.columns.count { rows.selection = mapped.isEmpty ? ["id"] : mapped }
        return rows
    }

    /// Returns the current page at once, read on the caller's thread; `nil` if only ``Iterator/next()`` can read it.
    func immediatePage() -> LivePage<Model>? {
        guard (try? query.tableQuery()) != nil,
            let (result, states) = context.immediateResult(of: rows, { try self.states(of: $1, in: $0) })
        else { return nil }
        return DecodedRows<Model>(result, states, after: nil, changed: []).page(after: nil, changed: [])
    }

    /// Returns the sync states of the rows, without those that are synced.
    private func states(
        of result: QueryResult, in snapshot: any StoreSnapshot
    ) throws -> [UTF8Text: RowSyncState] {
        guard followsStates else { return [:] }
        let states = try snapshot.rowStates(in: query.raw.table, of: context.catalog)
        if states.isEmpty { return states }
        // A state of another row is no change of the page.
        let ids = Set(result.items.map { UTF8Text($0.id) })
        return states.filter { ids.contains($0.key) }
    }

    /// Makes an iterator whose first element is the current page.
    public func makeAsyncIterator() -> Iterator { Iterator(self) }

    /// Waits for commits and reads the page again.
    public struct Iterator: AsyncIteratorProtocol {
        private let context: SyncContext
        private let query: ModelQuery<Model>
        private var observation: QueryObservation<[UTF8Text: RowSyncState]>
        private var decoded: DecodedRows<Model>?

        init(_ results: LiveResults) {
            (context, query) = (results.context, results.query)
            var following: ObservedChanges = results.followsStates ? [.operations] : []
            if Model.schema.showsSystemProperties { following.insert(.systemProperties) }
            observation = QueryObservation(
                results.rows, in: context, following: following, interval: results.throttle
            ) { try results.states(of: $1, in: $0) }
        }

        /// Returns when every commit before the call is in a page that the reader has received.
        var settle: @Sendable () async -> Void { observation.settle }

        /// Decodes outside the caller's actor, which may be the main actor.
        @concurrent private static func decode(
            _ result: QueryResult, _ states: [UTF8Text: RowSyncState], after previous: DecodedRows<Model>?,
            changed: Set<UTF8Text>
        ) async -> (DecodedRows<Model>, LivePage<Model>) {
            let rows = DecodedRows<Model>(result, states, after: previous, changed: changed)
            return (rows, rows.page(after: previous, changed: changed))
        }

        /// Returns the next page; `nil` after the end.
        public mutating func next() async throws(SyncError) -> LivePage<Model>? {
            try await next(isolation: nil)
        }

        /// Returns the next page; `nil` after the end.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(SyncError) -> LivePage<Model>? {
            do {
                do { _ = try query.tableQuery() } catch {
                    observation.end()
                    throw error
                }
                guard let (result, states, difference) = try await observation.next() else { return nil }
                let changed: Set<UTF8Text> = if case .changed(let ids) = difference { ids } else { [] }
                let (rows, page) = await Self.decode(result, states, after: decoded, changed: changed)
                decoded = rows
                context.recordUnreadable(page.unreadable)
                return page
            } catch let error as SyncError {
                throw error.naming(Model.self)
            } catch {
                throw .unexpected(error)
            }
        }
    }
}
