// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Synchronization
import Testing

@testable import SyncCore

/// A server can write `Date` seconds after it has read the rows of a page. Until then, other rows can get the last instant.
@Suite struct SlowResponseTests {
    /// The `updatedAt` of both rows.
    private static let instant = Timestamp.unixEpoch.advanced(by: .seconds(1000))

    /// Pulls twice from a server that commits `a` in the instant of `b` after it has read the first page.
    ///
    /// - Parameters:
    ///   - delay: the time from the instant to the first request, by the clock of the device and of the server.
    ///   - duration: the duration of each exchange. The server reads the rows at its beginning, and writes `Date` at its end.
    private func pullTwice(
        after delay: Duration, duration: Duration, sendsDate: Bool = true
    ) async throws -> (ids: [String], requestCount: Int) {
        let clock = Mutex(Self.instant.advanced(by: delay))
        let transport = ScriptedTransport { request in
            let end = clock.withLock { clock in
                clock = clock.advanced(by: duration)
                return clock
            }
            let path = request.head.path?.removingPercentEncoding ?? ""
            let (a, b) = (Self.row("a"), Self.row("b"))
            let readsInstantAgain = path.contains("updatedAt ge datetimeoffset'\(Self.instant)'")
            let body = !path.contains("filter") ? "[\(b)]" : readsInstantAgain ? "[\(a),\(b)]" : "[]"
            return HTTPTransportResponse(
                status: .ok, headerFields: sendsDate ? [.date: end.httpDate] : [:], body: Data(body.utf8))
        }
        let context = try SyncContext.scripted(transport) { clock.withLock { $0 } }
        for _ in 0..<2 { try await context.pull(TableQuery("T"), queryID: "all") }
        return (try await context.table("T").items().map(\.id), transport.requests.count)
    }

    private static func row(_ id: String) -> String {
        #"{"id":"\#(id)","version":"1","updatedAt":"\#(instant)"}"#
    }

    @Test func `an instant is read again if the server may have read it before it was past`() async throws {
        let (ids, _) = try await pullTwice(after: .zero, duration: .seconds(5))
        #expect(ids == ["a", "b"])
    }

    @Test(arguments: [
        (Duration.seconds(5), Duration.milliseconds(100)), (.seconds(2), .milliseconds(1500)),
        (.seconds(60), .seconds(30)),
    ])
    func `an instant that was past at the time of the request is not read again`(
        _ delay: Duration, _ duration: Duration
    ) async throws {
        let (ids, requestCount) = try await pullTwice(after: delay, duration: duration)
        #expect(ids == ["b"])
        #expect(requestCount == 3)
    }

    @Test func `without the server's clock, the one of the device decides`() async throws {
        let (ids, requestCount) = try await pullTwice(
            after: .seconds(3600), duration: .seconds(30), sendsDate: false)
        #expect(ids == ["b"] && requestCount == 3)
        let slow = try await pullTwice(after: .zero, duration: .seconds(5), sendsDate: false)
        #expect(slow.ids == ["a", "b"])
    }
}
