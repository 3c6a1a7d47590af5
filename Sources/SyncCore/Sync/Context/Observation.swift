// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension SyncTable {
    /// The items that match the query, now and again after each change of them.
    ///
    /// The first element is the present result; later ones come after commits that changed it, the newest alone
    /// when several came while the reader was busy. It ends when the context closes or the task is cancelled.
    ///
    /// - Throws: while iterating, the errors of ``items(matching:)``.
    public func observe(_ query: TableQuery) -> ObservedQuery {
        ObservedQuery(table: self, query: query)
    }
}

/// The results of a query as they change: see ``SyncTable/observe(_:)``.
public struct ObservedQuery: AsyncSequence, Sendable {
    let table: SyncTable
    let query: TableQuery

    /// Begins with the present result.
    public func makeAsyncIterator() -> Iterator {
        Iterator(query: self, signals: table.context.commits.signals().makeAsyncIterator())
    }

    /// Waits for commits and reads the query again.
    public struct Iterator: AsyncIteratorProtocol {
        private let query: ObservedQuery
        private var signals: AsyncStream<Void>.Iterator
        private var last: QueryResult?

        init(query: ObservedQuery, signals: AsyncStream<Void>.Iterator) {
            self.query = query
            self.signals = signals
        }

        /// The next result that differs from the one before; `nil` when the observation has ended.
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
    /// Reads for an observation. A read that fails because the context has been closed meanwhile returns `nil`.
    func resultUnlessClosed<T: Sendable>(_ read: () async throws -> T) async throws -> T? {
        do {
            return try await read()
        } catch let error as SyncError where error.code == .contextInvalid && commits.isFinished {
            return nil
        }
    }
}
