// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

package import HTTPTypes
package import SyncCore
import Synchronization

/// A transport that holds back the response to one request when a test asks for it.
package final class HeldResponseTransport: HTTPTransport {
    private let base: any HTTPTransport
    private let heldMethod = Mutex<HTTPRequest.Method?>(nil)
    private let arrival = TestSignal()
    private let permission = TestSignal()

    package init(_ base: any HTTPTransport = .patient) { self.base = base }

    /// Holds back the response to the next request with this method.
    package func holdNext(_ method: HTTPRequest.Method = .get) { heldMethod.withLock { $0 = method } }

    /// Waits until the response to be held has arrived.
    package func waitForResponse() async throws { try await arrival.wait() }

    /// Returns the held response to its caller.
    package func release() { permission.send() }

    package func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        let response = try await base.send(request)
        let isHeld = heldMethod.withLock { method in
            guard method == request.head.method else { return false }
            method = nil
            return true
        }
        guard isHeld else { return response }
        arrival.send()
        try await permission.wait()
        return response
    }
}
