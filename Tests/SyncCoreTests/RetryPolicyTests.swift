// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing

@testable import SyncCore

/// When a request is sent again, and generated ids.
@Suite struct RetryPolicyTests {
    private static let now = Timestamp(Date(timeIntervalSince1970: 784_111_000))

    @Test(arguments: [
        ("0", 0), ("7", 7), ("007", 7), ("Sun, 06 Nov 1994 08:49:37 GMT", 777),
        ("Sat, 05 Nov 1994 08:49:37 GMT", 0),
    ])
    func `Retry-After is seconds or a date`(_ text: String, _ seconds: Int) {
        #expect(RetryAfter(text, now: Self.now)?.delay == .seconds(seconds))
    }

    @Test(arguments: [
        "", "-1", "1.5", "+1", "abc", "1e9", " 7", "Sun, 06 Nov 1994 08:49:37",
        "Sun, 06 Nox 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 25:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "٧",
    ])
    func `other values of Retry-After are ignored`(_ text: String) {
        #expect(RetryAfter(text, now: Self.now) == nil)
    }

    @Test func `a Retry-After that overflows is a long delay`() throws {
        for text in ["9223372036854775807", String(repeating: "9", count: 400)] {
            #expect(try #require(RetryAfter(text, now: Self.now)).delay > .seconds(1_000_000_000))
        }
    }

    @Test func `the delay doubles up to the cap, with full jitter`() throws {
        var policy = RetryPolicy()
        policy.maxAttempts = 100
        for (attempt, bound) in [(1, 250), (2, 500), (3, 1000), (7, 16_000), (8, 20_000), (90, 20_000)] {
            let none = policy.delay(afterAttempt: attempt, retryAfter: nil, now: Self.now, jitter: 0)
            let all = try #require(
                policy.delay(afterAttempt: attempt, retryAfter: nil, now: Self.now, jitter: 1.nextDown))
            #expect(none == .zero)
            #expect(all <= .milliseconds(bound))
            #expect(all > .milliseconds(bound - 1))
        }
    }

    @Test func `delays of any size do not overflow`() throws {
        var policy = RetryPolicy()
        policy.maxAttempts = .max
        for delay in [Duration.seconds(Int64.max), .seconds(Int64.min), .zero] {
            (policy.initialDelay, policy.maxDelay) = (delay, delay)
            for attempt in [1, 2, 31, 1000] {
                let actual = try #require(
                    policy.delay(afterAttempt: attempt, retryAfter: nil, now: Self.now, jitter: 1.nextDown))
                #expect(actual >= .zero && (actual > .zero) == (delay > .zero))
            }
        }
    }

    @Test func `a delay of any length can be cancelled`() async throws {
        let executor = SerialTaskExecutor()
        let delay = Task(executorPreference: executor) {
            try await SyncEnvironment.live.sleep(.seconds(Int64.max))
        }
        // The task is now suspended.
        await executor.drain()
        delay.cancel()
        await #expect(throws: CancellationError.self) { try await delay.value }
    }

    @Test func `a policy permits no further attempt after maxAttempts or a Retry-After above the limit`() {
        var policy = RetryPolicy()
        policy.maxAttempts = 3
        func delay(_ attempt: Int, _ retryAfter: String? = nil) -> Duration? {
            policy.delay(afterAttempt: attempt, retryAfter: retryAfter, now: Self.now, jitter: 0)
        }
        #expect(delay(2) != nil)
        #expect(delay(3) == nil)
        #expect(delay(1, "60") == .seconds(60))
        #expect(delay(1, "61") == nil)
        #expect(delay(1, "nonsense") == .zero)
        policy.maxAttempts = 0
        #expect(delay(1) == nil)
    }

    @Test func `the budget stops a storm of retries, and successes fill it`() {
        let budget = RetryBudget()
        #expect((0..<100).allSatisfy { _ in budget.spend() })
        #expect(!budget.spend())
        for _ in 0..<4 { budget.earn() }
        #expect(!budget.spend())
        budget.earn()
        #expect(budget.spend())
        for _ in 0..<10_000 { budget.earn() }
        #expect((0..<100).allSatisfy { _ in budget.spend() })
        #expect(!budget.spend())
    }

    @Test func `generated ids are unique UUIDs of version 7 that sort by time`() throws {
        let clock = Mutex(Timestamp(Date(timeIntervalSince1970: 1_700_000_000)))
        let random = Mutex(SystemRandomNumberGenerator())
        var environment = SyncEnvironment.inline
        environment.now = { clock.withLock { $0 } }
        environment.random = { random.withLock { $0.next() } }
        var ids: [String] = []
        for _ in 0..<200 {
            clock.withLock { $0 = $0.advanced(by: .milliseconds(1)) }
            ids.append(environment.makeItemID())
        }
        #expect(ids == ids.sorted())
        #expect(Set(ids).count == 200)
        for id in ids {
            #expect(UUID(uuidString: id) != nil)
            #expect(Array(id)[14] == "7")
            #expect("89ab".contains(Array(id)[19]))
            try ItemID.validate(id)
        }
    }
}
