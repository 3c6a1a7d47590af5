// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Runs a query again after each commit that may change its result, and returns the results that differ.
package struct QueryObservation<Details: Sendable & Equatable> {
    package typealias Page = (result: QueryResult, details: Details, difference: ResultDifference)

    private let query: TableQuery
    private let context: SyncContext
    private let details: @Sendable (any StoreSnapshot, QueryResult) throws -> Details
    private let observer: QueryObserver
    private var signals: AsyncStream<Void>.Iterator
    private var pacing: ReadPacing
    private var previousDetails: Details?

    /// Begins to observe.
    ///
    /// - Parameters:
    ///   - interval: the minimum time between two reads.
    ///   - details: what else is read on the snapshot of each result. A result with other details differs.
    package init(
        _ query: TableQuery, in context: SyncContext, following: ObservedChanges = [],
        interval: Duration = .zero,
        details: @escaping @Sendable (any StoreSnapshot, QueryResult) throws -> Details
    ) {
        (self.query, self.context, self.details) = (query, context, details)
        let observer = QueryObserver(query, following: following)
        self.observer = observer
        pacing = ReadPacing(interval: interval)
        var subjects: Set<CommitFeed.Subject> = [.table(query.table)]
        if following.contains(.operations) { subjects.insert(.status) }
        signals = context.commits.signals(of: subjects) { observer.counts($0) }.makeAsyncIterator()
    }

    /// Returns when the reader of the results has received every commit before this call, or receives no more.
    package var settle: @Sendable () async -> Void {
        { [context, observer] in
            await context.store.didSignalCommits()
            await observer.settle()
        }
    }

    /// Returns the next result that differs from the previous one, or has other details; `nil` after the context has closed
    /// or the task is cancelled.
    package mutating func next() async throws -> Page? {
        let page = try await nextPage()
        if page == nil { observer.finish() }
        return page
    }

    /// Ends the observation of a reader that reads no more.
    package func end() { observer.finish() }

    private mutating func nextPage() async throws -> Page? {
        while true {
            if observer.hasFailed {
                if Task.isCancelled { return nil }
            } else {
                observer.beginWait()
                guard await context.next(&signals) != nil else { return nil }
            }
            do {
                try await pacing.delay(in: context)
            } catch {
                return nil  // The task is cancelled.
            }
            guard observer.beginRead() else { continue }
            let began = context.environment.now()
            let page: Page?
            do {
                page = try await context.resultUnlessClosed { try await read() }
            } catch {
                observer.failRead()
                throw error
            }
            guard let (result, details, difference) = page else { return nil }
            pacing.didRead(from: began, to: context.environment.now())
            defer { previousDetails = details }
            if difference != .none || details != previousDetails { return (result, details, difference) }
        }
    }

    /// Reads, and compares with the previous result, on a thread of the store.
    private func read() async throws -> Page {
        try context.validate(query, on: query.table)
        let (page, window) = try await context.read { [query, details, observer] snapshot in
            let result = try snapshot.items(matching: query)
            let details = try details(snapshot, result)
            let (window, difference) = observer.compare(result)
            return ((result, details, difference), window)
        }
        observer.endRead(window)
        return page
    }
}

/// What an observation follows besides the fields of its rows.
package struct ObservedChanges: OptionSet, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    /// Versions and dates of the server.
    package static let systemProperties = ObservedChanges(rawValue: 1)
    /// The operation queue and the error log.
    package static let operations = ObservedChanges(rawValue: 2)
}
