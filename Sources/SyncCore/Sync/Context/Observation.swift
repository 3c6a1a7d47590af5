// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension SyncTable {
    /// Returns a sequence of the query's results.
    ///
    /// The first element is the current result; the others follow commits that change it. If several commits change it
    /// while the reader is busy, the reader receives the newest result. The sequence ends when the context closes or the
    /// task is cancelled.
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
    public func makeAsyncIterator() -> Iterator {
        Iterator(query: self, signals: table.context.commits.signals().makeAsyncIterator())
    }

    /// Waits for commits and runs the query again.
    public struct Iterator: AsyncIteratorProtocol {
        private let query: ObservedQuery
        private var signals: AsyncStream<Void>.Iterator
        private var last: QueryResult?

        init(query: ObservedQuery, signals: AsyncStream<Void>.Iterator) {
            self.query = query
            self.signals = signals
        }

        /// Returns the next result that differs from the previous one; `nil` after the end.
        public mutating func next() async throws -> QueryResult? {
            while await signals.next(isolation: #isolation) != nil {
                let result = try await query.table.context.resultUnlessClosed {
                    try await query.table.items(matching: query.query)
                }
                guard let result else { return nil }
                guard result != last else { continue }
                last = result
                return result
            }
            return nil
        }
    }
}

extension SyncContext {
    /// Runs the read of an observation. Returns `nil` if the read fails because the context has closed.
    func resultUnlessClosed<T: Sendable>(_ read: () async throws -> T) async throws -> T? {
        do {
            return try await read()
        } catch let error as SyncError where error.code == .contextInvalid && commits.isFinished {
            return nil
        }
    }
}
