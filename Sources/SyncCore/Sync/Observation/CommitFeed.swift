// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Signals commits to the observers that they concern.
///
/// Observers are filed by table, so that a commit costs the observers of other tables nothing. Signals are coalesced: an
/// observer that is busy during several commits receives one signal, and then reads the newest state.
package final class CommitFeed: Sendable {
    /// What an observer observes.
    package enum Subject: Hashable, Sendable {
        case table(String)
        /// The operation queue, the error log, and the start and end of pushes and pulls.
        case status
        /// Local changes, which a push sends, and decisions about pending operations; not the progress of pushes.
        case localChanges
        /// Every commit.
        case commits
        /// No commit: only the end of the feed.
        case end
    }

    /// Tables whose changes have observers.
    enum ObservedTables {
        case named(Set<String>)
        case all

        func contains(_ table: String) -> Bool {
            switch self {
            case .named(let tables): tables.contains(table)
            case .all: true
            }
        }
    }

    private struct Observer {
        /// Increases in the order in which observers begin.
        let key: Int
        let counts: @Sendable (ChangeSet) -> Bool
        let continuation: AsyncStream<Void>.Continuation
    }

    private struct Observers {
        /// Observers in the order of their keys.
        private(set) var bySubject: [Subject: [Observer]] = [:]
        /// The tables among the subjects.
        private(set) var tables: Set<String> = []
        var lastKey = 0
        var isFinished = false

        mutating func add(_ observer: Observer, to subject: Subject) {
            if bySubject[subject] == nil, case .table(let name) = subject { tables.insert(name) }
            bySubject[subject, default: []].append(observer)
        }

        mutating func remove(_ key: Int, from subject: Subject) -> Observer? {
            guard let index = bySubject[subject]?.firstIndex(where: { $0.key == key }) else { return nil }
            let removed = bySubject[subject]?.remove(at: index)
            if bySubject[subject]?.isEmpty == true {
                bySubject[subject] = nil
                if case .table(let name) = subject { tables.remove(name) }
            }
            return removed
        }

        /// Returns the observers of the subjects in the order in which they began, so that a run with the same schedule is
        /// the same.
        func observing(_ subjects: [Subject]) -> [Observer] {
            let lists = subjects.compactMap { bySubject[$0] }
            guard lists.count > 1 else { return lists.first ?? [] }
            var found: [Int: Observer] = [:]
            for observer in lists.joined() { found[observer.key] = observer }
            return found.values.sorted { $0.key < $1.key }
        }
    }

    private let observers = Mutex(Observers())

    /// Whether ``finish()`` was called.
    package var isFinished: Bool { observers.withLock { $0.isFinished } }

    /// The tables whose changes have observers; `nil` without observers, when commits need not be recorded.
    var observedTables: ObservedTables? {
        observers.withLock { observers in
            if observers.bySubject.isEmpty { return nil }
            return observers.bySubject[.commits] == nil ? .named(observers.tables) : .all
        }
    }

    /// Returns a stream with a signal at once, and one after each commit that changes a subject and counts. It ends when
    /// the feed finishes.
    ///
    /// - Parameters:
    ///   - beginsAtOnce: whether the stream begins with a signal.
    ///   - counts: whether the observer reads again because of a commit, or of the start or end of a push or pull;
    ///     called once for each, on any thread; for the commits of this context in their order.
    package func signals(
        of subjects: Set<Subject>, beginsAtOnce: Bool = true,
        where counts: @escaping @Sendable (ChangeSet) -> Bool = { _ in true }
    ) -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        if beginsAtOnce { continuation.yield() }
        let key = observers.withLock { observers -> Int? in
            guard !observers.isFinished else { return nil }
            observers.lastKey += 1
            let observer = Observer(key: observers.lastKey, counts: counts, continuation: continuation)
            for subject in subjects { observers.add(observer, to: subject) }
            return observers.lastKey
        }
        guard let key else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in self?.remove(key, of: subjects) }
        return stream
    }

    private func remove(_ key: Int, of subjects: Set<Subject>) {
        let removed = observers.withLock { observers in subjects.map { observers.remove(key, from: $0) } }
        // The observer is deallocated without the lock.
        withExtendedLifetime(removed) {}
    }

    /// Signals the changes of a commit to the observers that they concern.
    func send(_ changes: ChangeSet) {
        for observer in concerned(by: changes) where observer.counts(changes) {
            observer.continuation.yield()
        }
    }

    private func concerned(by changes: ChangeSet) -> [Observer] {
        observers.withLock { observers in
            guard !observers.bySubject.isEmpty else { return [] }
            var subjects: [Subject] = [.commits]
            if changes.touchesOperations { subjects.append(.status) }
            if changes.mayQueueOperations { subjects.append(.localChanges) }
            if changes.isUnknown {
                subjects += observers.tables.map { .table($0) }
            } else {
                subjects += changes.tables.keys.map { .table($0) }
            }
            return observers.observing(subjects)
        }
    }

    /// Ends all streams.
    func finish() {
        let ended = observers.withLock { observers in
            observers.isFinished = true
            return observers.observing(Array(observers.bySubject.keys))
        }
        for observer in ended { observer.continuation.finish() }
    }
}
