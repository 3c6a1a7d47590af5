// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// Threads that work on a store together, each on its own, because a store's calls block.
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

    /// Waits for all threads and throws the first error of any.
    ///
    /// - Returns: whether they came to an end in time.
    func join(within seconds: Double = 60) throws -> Bool {
        let isDone = group.wait(timeout: .now() + seconds) == .success
        if let failure = failure.withLock({ $0 }) { throw failure }
        return isDone
    }
}

/// Something that one thread announces and others wait for.
final class Signal: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func send() { semaphore.signal() }

    /// - Returns: whether it was sent in time.
    func wait(seconds: Double = 60) -> Bool { semaphore.wait(timeout: .now() + seconds) == .success }
}

/// A value that threads share.
package final class Shared<Value: Sendable>: Sendable {
    fileprivate let content: Mutex<Value>

    package init(_ value: Value) { content = Mutex(value) }

    package var value: Value { content.withLock { $0 } }

    package func change(_ body: @Sendable (inout Value) -> Void) { content.withLock { body(&$0) } }
}

extension Shared<Int> {
    /// Counts one more.
    package func next() -> Int {
        content.withLock { count in
            count += 1
            return count
        }
    }
}

extension RuleRun {
    /// Runs the bodies at the same time and waits for all of them.
    func together(_ bodies: [@Sendable () throws -> Void]) throws {
        let group = ThreadGroup()
        for body in bodies { group.start(body) }
        try join(group)
    }

    /// Waits for the threads; being stuck breaks the rule.
    func join(_ group: ThreadGroup) throws {
        try expect(try group.join(), "All threads came to an end within 60 seconds.")
    }
}
