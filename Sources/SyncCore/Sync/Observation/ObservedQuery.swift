// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension SyncTable {
    /// Returns a sequence of the query's results.
    ///
    /// The first element is the current result; the others follow commits that change it. A commit that changes system
    /// properties alone does not, unless the query filters, orders or selects by them. If several commits change the
    /// result while the reader is busy, the reader receives the newest one; in a long series of commits, the query runs
    /// a few times a second. The sequence ends when the context closes or the task is cancelled.
    ///
    /// Items can so have an older version than the store's. Change them with ``update(id:_:)``, which compares no versions:
    /// ``replace(_:)`` reports the change of another client as a conflict, also if it has changed no column of the table.
    ///
    /// A commit that changes no row of the table runs no query, nor usually one that changes only rows that neither are in
    /// the result nor match the query. The commits of other processes on a shared store are noticed within five seconds, or with
    /// the next commit of this context.
    ///
    /// - Throws: while iterating, the errors of ``items(matching:)``.
    public func observe(_ query: TableQuery) -> ObservedQuery {
        ObservedQuery(table: self, query: query)
    }
}

/// The sequence of a query's results: see ``SyncTable/observe(_:)``.
public struct ObservedQuery: AsyncSequence, Sendable {
    let table: SyncTable
    let query: TableQuery

    /// Makes an iterator whose first element is the current result.
    public func makeAsyncIterator() -> Iterator { Iterator(self) }

    /// Waits for commits and runs the query again.
    public struct Iterator: AsyncIteratorProtocol {
        private let table: SyncTable
        private let query: TableQuery
        private var observation: QueryObservation<[Never]>

        init(_ observed: ObservedQuery) {
            (table, query) = (observed.table, observed.query)
            observation = QueryObservation(query, in: table.context) { _, _ in [] }
        }

        /// Returns the next result that differs from the previous one; `nil` after the end.
        public mutating func next() async throws -> QueryResult? {
            try query.require(table: table.name)
            return try await observation.next()?.result
        }
    }
}

extension SyncContext {
    /// Runs the read of an observation. Returns `nil` if the context has closed.
    func resultUnlessClosed<T: Sendable>(_ read: () async throws -> T) async throws -> T? {
        if commits.isFinished { return nil }
        do {
            return try await read()
        } catch let error as SyncError where error.code == .contextInvalid && commits.isFinished {
            return nil
        }
    }
}
