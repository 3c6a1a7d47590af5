// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// A group of threads that use a store concurrently; real threads, because a store's calls block.
final class ThreadGroup: Sendable {
    private let group = DispatchGroup()
    private let failure = Mutex<(any Error)?>(nil)

    /// Starts a thread.
    func start(_ body: @escaping @Sendable () throws -> Void) {
        group.enter()
        let thread = Thread { [group] in
            do { try body() } catch { self.failure.withLock { $0 = $0 ?? error } }
            group.leave()
        }
        thread.stackSize = 8 << 20
        thread.start()
    }

    /// Waits for all threads and throws their first error.
    ///
    /// - Returns: whether all threads finished in time.
    func join(within seconds: Double) throws -> Bool {
        let isDone = group.wait(timeout: .now() + seconds) == .success
        if let failure = failure.withLock({ $0 }) { throw failure }
        return isDone
    }
}

/// An event that one thread sends, once or several times, and another waits for.
final class Signal: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func send() { semaphore.signal() }

    /// Waits for the event.
    ///
    /// - Returns: whether it was sent in time.
    func wait(seconds: Double) -> Bool { semaphore.wait(timeout: .now() + seconds) == .success }
}

/// A value shared by threads, protected by a mutex.
package final class Shared<Value: Sendable>: Sendable {
    fileprivate let content: Mutex<Value>

    package init(_ value: Value) { content = Mutex(value) }

    package var value: Value { content.withLock { $0 } }

    package func change(_ body: @Sendable (inout Value) -> Void) { content.withLock { body(&$0) } }
}

extension Shared<Int> {
    /// Increments the value and returns it.
    package func next() -> Int {
        content.withLock { count in
            count += 1
            return count
        }
    }
}

extension RuleRun {
    /// Runs the bodies concurrently and waits for all of them.
    func runConcurrently(_ bodies: [@Sendable () throws -> Void]) throws {
        let group = ThreadGroup()
        for body in bodies { group.start(body) }
        try join(group)
    }

    /// Waits for the threads; fails the rule when they do not finish.
    func join(_ group: ThreadGroup) throws {
        try expect(try group.join(within: effort.patience), "All threads finished in time.")
    }

    /// Waits for a signal of a thread that must not be blocked.
    ///
    /// - Returns: whether it was sent in time.
    func wait(for signal: Signal) -> Bool { signal.wait(seconds: effort.patience) }
}
