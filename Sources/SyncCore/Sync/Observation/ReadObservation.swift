// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Runs a read of several tables again after each commit that may change what it has read.
package struct ReadObservation<Value: Sendable> {
    private let context: SyncContext
    private let body: @Sendable (any StoreSnapshot) throws -> Value
    private let observer = ReadObserver()
    private var signals: AsyncStream<Void>.Iterator
    private var pacing = ReadPacing()
    /// Whether the last read has thrown an error. The next one does not wait for a commit.
    private var hasFailed = false

    package init(
        in context: SyncContext, _ body: @escaping @Sendable (any StoreSnapshot) throws -> Value
    ) {
        (self.context, self.body) = (context, body)
        let observer = observer
        signals = context.commits.signals(of: [.commits]) { observer.counts($0) }.makeAsyncIterator()
    }

    /// Returns the next value; `nil` after the context has closed or the task is cancelled.
    package mutating func next() async throws -> Value? {
        while true {
            if hasFailed, Task.isCancelled { return nil }
            if !hasFailed { guard await context.next(&signals) != nil else { return nil } }
            do {
                try await pacing.delay(in: context)
            } catch {
                return nil  // The task is cancelled.
            }
            guard observer.beginRead() else { continue }
            let began = context.environment.now()
            hasFailed = true
            defer { pacing.didRead(from: began, to: context.environment.now()) }
            let read = try await context.resultUnlessClosed { [context, body] in
                try await context.withSnapshot { snapshot in
                    let observed = ObservedSnapshot(snapshot)
                    return (try body(observed), observed.region)
                }
            }
            hasFailed = false
            guard let (value, region) = read else { return nil }
            observer.endRead(region)
            return value
        }
    }
}

/// What a read has read.
struct ObservedRegion: Sendable {
    var windows: [ResultWindow] = []
    var includesOperations = false
    /// The tables of reads that have thrown an error, which the body may have caught.
    var failedTables: Set<String> = []

    /// Returns whether the changes of a commit may change what was read.
    func isAffected(by changes: ChangeSet) -> Bool {
        if includesOperations && changes.touchesOperations { return true }
        if failedTables.contains(where: { changes.change(of: $0) != nil }) { return true }
        return windows.contains { window in
            changes.change(of: window.query.table).map(window.isAffected) ?? false
        }
    }
}

/// Decides which commits a read runs again for.
private final class ReadObserver: Sendable {
    private struct State {
        /// What the last read has read; `nil` while it is not known.
        var region: ObservedRegion?
        /// The changes since the last read began: all of them during a read; afterwards `unknown` once a commit counts.
        var unread: ChangeSet?
    }

    private let state = Mutex(State())

    func counts(_ changes: ChangeSet) -> Bool {
        state.withLock { state in
            if let region = state.region {
                // Commits during the read are compared when the next one begins.
                guard region.isAffected(by: changes) else { return state.unread != nil }
                state.unread = .unknown
            } else {
                // During a read it is unknown what is read.
                state.unread = state.unread ?? ChangeSet()
                state.unread?.merge(changes)
            }
            return true
        }
    }

    func beginRead() -> Bool {
        state.withLock { state in
            let unread = state.unread
            state.unread = nil
            if let region = state.region, unread.map(region.isAffected) != true { return false }
            state.region = nil
            return true
        }
    }

    func endRead(_ region: ObservedRegion) { state.withLock { $0.region = region } }
}

/// A snapshot that records what is read.
private final class ObservedSnapshot: StoreSnapshot {
    private let base: any StoreSnapshot
    private(set) var region = ObservedRegion()

    init(_ base: any StoreSnapshot) { self.base = base }

    func item(id: String, in table: String) throws -> Item? {
        let item = try reading(table) { try base.item(id: id, in: table) }
        let query = TableQuery(table).where(.column("id") == id)
        let items = item.map { [$0] } ?? []
        region.windows.append(
            ResultWindow(query, QueryResult(items: items), followsSystemProperties: true))
        return item
    }

    func items(matching query: TableQuery) throws -> QueryResult {
        let result = try reading(query.table) { try base.items(matching: query) }
        region.windows.append(ResultWindow(query, result, followsSystemProperties: true))
        return result
    }

    func forEachRow(
        matching query: TableQuery, columns: [String], _ body: (RowValues) throws -> Void
    ) throws -> Int? {
        let result: QueryResult
        do { result = try wholeItems(matching: query) } catch let error as StoreError
            where error.code == .corrupt
        {
            // A column that is not read here may have a value that cannot be read.
            return try base.forEachRow(matching: query, columns: columns, body)
        }
        return try result.forEachItem(columns: columns, body)
    }

    func operation(id: Int64) throws -> TableOperation? {
        try operations { try base.operation(id: id) }
    }

    func operations(after id: Int64, in table: String?, limit: Int) throws -> [TableOperation] {
        try operations { try base.operations(after: id, in: table, limit: limit) }
    }

    func operations(forItem itemID: String, in table: String) throws -> [TableOperation] {
        try operations { try base.operations(forItem: itemID, in: table) }
    }

    func operationCount(in table: String?) throws -> Int {
        try operations { try base.operationCount(in: table) }
    }

    func operationError(operationID: Int64) throws -> TableOperationError? {
        try operations { try base.operationError(operationID: operationID) }
    }

    func operationErrors(in table: String?) throws -> [TableOperationError] {
        try operations { try base.operationErrors(in: table) }
    }

    func configValue(_ key: ConfigKey) throws -> String? { try base.configValue(key) }

    func configValues(in table: String, kind: ConfigKey.Kind) throws -> [(key: ConfigKey, value: String)] {
        try base.configValues(in: table, kind: kind)
    }

    private func reading<T>(_ table: String, _ read: () throws -> T) throws -> T {
        do {
            return try read()
        } catch {
            region.failedTables.insert(table)
            throw error
        }
    }

    private func operations<T>(_ read: () throws -> T) rethrows -> T {
        region.includesOperations = true
        return try read()
    }
}
