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
    }

    private struct Observer {
        let counts: @Sendable (ChangeSet) -> Bool
        let continuation: AsyncStream<Void>.Continuation
    }

    private struct Observers {
        var bySubject: [Subject: [Int: Observer]] = [:]
        var lastKey = 0
        var isFinished = false

        /// Returns the observers of the subjects in the order in which they began, so that a run with the same schedule is
        /// the same.
        func observing(_ subjects: [Subject]) -> [Observer] {
            var found: [Int: Observer] = [:]
            for subject in subjects { found.merge(bySubject[subject] ?? [:]) { observer, _ in observer } }
            return found.sorted { $0.key < $1.key }.map(\.value)
        }
    }

    private let observers = Mutex(Observers())

    /// Whether ``finish()`` was called.
    package var isFinished: Bool { observers.withLock { $0.isFinished } }

    /// Whether an observer exists. Commits without observers need not be recorded.
    var hasObservers: Bool { observers.withLock { !$0.bySubject.isEmpty } }

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
            let observer = Observer(counts: counts, continuation: continuation)
            for subject in subjects {
                observers.bySubject[subject, default: [:]][observers.lastKey] = observer
            }
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
        let removed = observers.withLock { observers in
            subjects.map { subject in
                let removed = observers.bySubject[subject]?.removeValue(forKey: key)
                if observers.bySubject[subject]?.isEmpty == true { observers.bySubject[subject] = nil }
                return removed
            }
        }
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
                subjects = Array(observers.bySubject.keys)
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
