// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import Synchronization

/// Limits how many requests a second each user may send; those without a user, each address.
///
/// A client that was silent may send the requests of one second at once.
final class RequestLimit: Sendable {
    private struct Allowance {
        /// How many requests may follow at once.
        var count: Double
        var time: Double
    }

    private let perSecond: Double
    private struct State {
        var clients: [UTF8Text: Allowance] = [:]
        var lastRemoval: Double?
    }

    private let state = Mutex(State())
    /// With more clients than this, those that have been silent for a second are forgotten, once a second.
    private static let maxClients = 10_000

    init(perSecond: Int) { self.perSecond = Double(perSecond) }

    /// Counts a request.
    ///
    /// - Throws: status 429 with `Retry-After` when the client has sent too many.
    func count(_ client: String, at now: Timestamp) throws(RequestError) {
        let time = Double(now.seconds) + Double(now.nanoseconds) / 1e9
        let client = UTF8Text(client)
        let isAllowed = state.withLock { state in
            if state.clients.count >= Self.maxClients, state.lastRemoval.map({ abs(time - $0) >= 1 }) ?? true
            {
                state.clients = state.clients.filter { allowance(of: $0.value, at: time).count < perSecond }
                state.lastRemoval = time
            }
            var left = allowance(of: state.clients[client], at: time)
            let isAllowed = left.count >= 1
            if isAllowed { left.count -= 1 }
            state.clients[client] = left
            return isAllowed
        }
        guard isAllowed else {
            throw RequestError(
                status: 429,
                message: "More than \(Int(perSecond)) requests a second. Send the request again later.")
        }
    }

    /// Returns the allowance at a time. It does not shrink when the clock steps back.
    private func allowance(of former: Allowance?, at time: Double) -> Allowance {
        guard let former else { return Allowance(count: perSecond, time: time) }
        let elapsed = max(0, time - former.time)
        return Allowance(count: min(perSecond, former.count + elapsed * perSecond), time: time)
    }
}
