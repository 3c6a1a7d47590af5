// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation

/// The injected dependencies of a sync context: clock, waiting, random generator and executor.
///
/// Tests replace them to run a whole system deterministically.
public struct SyncEnvironment: Sendable {
    /// The client's clock. Another clock that is set here also measures durations, until ``uptime`` is set.
    public var now: @Sendable () -> Timestamp {
        didSet { uptime = Self.uptime(of: now) }
    }
    /// The time since a fixed moment, for durations: it goes on evenly when the clock is set.
    public var uptime: @Sendable () -> Duration
    /// Suspends the task for a duration, and throws `CancellationError` if the task is cancelled.
    public var sleep: @Sendable (Duration) async throws -> Void
    /// Returns a random number, for jitter and for ids of items; models make their ids themselves.
    public var random: @Sendable () -> UInt64
    /// Runs the blocking calls of the store outside Swift's cooperative threads.
    public var executor: any StoreExecutor

    /// Makes an environment.
    ///
    /// - Parameter uptime: `nil` measures durations with `now`, for a clock that is never set.
    public init(
        now: @escaping @Sendable () -> Timestamp, sleep: @escaping @Sendable (Duration) async throws -> Void,
        random: @escaping @Sendable () -> UInt64, executor: any StoreExecutor,
        uptime: (@Sendable () -> Duration)? = nil
    ) {
        self.now = now
        self.uptime = uptime ?? Self.uptime(of: now)
        self.sleep = sleep
        self.random = random
        self.executor = executor
    }

    /// The clock, random generator and threads of the system.
    public static var live: SyncEnvironment {
        SyncEnvironment(
            now: { systemTime }, sleep: { try await Task.sleep(for: min($0, RetryPolicy.greatestDelay)) },
            random: { .random(in: .min ... .max) }, executor: DispatchStoreExecutor(),
            uptime: { start.duration(to: .now) })
    }

    private static let start = ContinuousClock.now

    private static func uptime(of now: @escaping @Sendable () -> Timestamp) -> @Sendable () -> Duration {
        { now().since(.unixEpoch) }
    }

    /// The time of the system's clock, which a remote table uses without a context.
    package static var systemTime: Timestamp { Timestamp(Date()) }

    /// A random number from 0 to below 1, for jitter.
    package var jitter: Double { Double(random() >> 11) * 0x1p-53 }

    /// Returns a new item id.
    func makeItemID() -> String { ItemID.generate(at: now(), random) }
}

/// Runs the blocking calls of a store.
public protocol StoreExecutor: Sendable {
    /// Runs the work asynchronously, concurrently with other reads.
    func read(_ work: @escaping @Sendable () -> Void)
    /// Runs the work asynchronously, after all earlier writes.
    func write(_ work: @escaping @Sendable () -> Void)
}

/// Runs writes on a serial dispatch queue, and reads on a concurrent one.
private struct DispatchStoreExecutor: StoreExecutor {
    private let reads = DispatchQueue(label: "swift-sync-context.reads", attributes: .concurrent)
    private let writes = DispatchQueue(label: "swift-sync-context.writes")

    func read(_ work: @escaping @Sendable () -> Void) { reads.async(execute: work) }
    func write(_ work: @escaping @Sendable () -> Void) { writes.async(execute: work) }
}
