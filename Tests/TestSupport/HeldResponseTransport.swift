// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
package import SyncCore
import Synchronization

/// A transport that holds back the response to one GET request when a test asks for it.
package final class HeldResponseTransport: HTTPTransport {
    private let base: any HTTPTransport
    private let holdsNext = Mutex(false)
    private let arrival = TestSignal()
    private let permission = TestSignal()

    package init(_ base: any HTTPTransport = .patient) { self.base = base }

    /// Holds back the response to the next GET request.
    package func holdNext() { holdsNext.withLock { $0 = true } }

    /// Waits until the response to be held has arrived.
    package func waitForResponse() async throws { try await arrival.wait() }

    /// Returns the held response to its caller.
    package func release() { permission.send() }

    package func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        let response = try await base.send(request)
        guard request.head.method == .get, holdsNext.withLock({ $0.exchange(false) }) else { return response }
        arrival.send()
        try await permission.wait()
        return response
    }
}

extension Bool {
    /// Stores the new value and returns the old one.
    fileprivate mutating func exchange(_ value: Bool) -> Bool {
        defer { self = value }
        return self
    }
}
