// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import SyncCore
import Synchronization

/// Checks when one process repeats requests: after the `Retry-After` of the response, within the retry budget, and with
/// no other request in between when the service did not answer. Other rows may be tried when three acts got no answer for a row.
///
/// The requests of one act belong together. Act 0 has the requests of all pushes and pulls after the faults end.
final class RequestCheck: Sendable {
    /// A request that can be repeated.
    private struct Failure {
        let request: ModelRequest
        /// Virtual time before which the request must not be repeated.
        let earliest: Int64
        /// Whether the response, or its absence, ends the push or pull once the request is not repeated.
        let endsCall: Bool
        /// Whether the response may be about this request only.
        let mayBeOfRequest: Bool
        /// Whether other rows may be tried, because three acts got no answer for the row.
        let mayBeAlone: Bool
    }

    private struct State {
        /// The last failed request of each act.
        var failures: [UInt64: [Failure]] = [:]
        var budget = RequestCheck.capacity
        /// The acts in which requests for a row have no answer.
        var unanswered: [RowKey: Set<UInt64>] = [:]
        /// The acts of the requests that have not ended.
        var running: [UInt64: Int] = [:]
        /// The acts of the writes that have not ended.
        var runningWrites: [UInt64: Int] = [:]
    }

    private let state = Mutex(State())
    /// Whether one request of an act ends before the next begins.
    private let isSequential: Bool
    /// Whether a delegate can send a request again on its own.
    private let hasDelegate: Bool

    // The budget that the specification promises: each retry costs five tokens, and each success earns one.
    private static let capacity = 500
    private static let cost = 5

    init(isSequential: Bool, hasDelegate: Bool) {
        (self.isSequential, self.hasDelegate) = (isSequential, hasDelegate)
    }

    /// Records that a request is sent.
    ///
    /// - Returns: the rule that the request breaks; `nil` if it breaks none.
    func willSend(_ request: ModelRequest, act: UInt64, now: Int64) -> String? {
        state.withLock { state in
            let isWrite = request.phase.isWrite
            if isSequential, state.running[act] ?? 0 > 0 { return "Two requests are sent at once." }
            if isWrite, state.runningWrites.contains(where: { $0.key != act && $0.value > 0 }) {
                return "Two pushes send at once."
            }
            state.running[act, default: 0] += 1
            if isWrite { state.runningWrites[act, default: 0] += 1 }
            guard act != 0, !hasDelegate else { return nil }
            let failures = state.failures[act] ?? []
            guard let index = failures.firstIndex(where: { $0.request.isEqual(to: request) }) else {
                // Rows are pulled although a proxy has refused a change.
                guard isSequential,
                    failures.contains(where: {
                        $0.endsCall && (isWrite || !$0.mayBeOfRequest) && !$0.mayBeAlone
                    })
                else { return nil }
                return "Another request follows, although the service did not answer the one before."
            }
            state.failures[act]?.remove(at: index)
            state.budget -= Self.cost
            if state.budget < 0 { return "A request is repeated although the retry budget is spent." }
            return now < failures[index].earliest ? "A request is repeated before its Retry-After." : nil
        }
    }

    /// Records that a request is no longer running, with or without a response.
    func didReturn(_ request: ModelRequest, act: UInt64) {
        state.withLock { state in
            state.running[act, default: 0] -= 1
            if request.phase.isWrite { state.runningWrites[act, default: 0] -= 1 }
        }
    }

    /// Records how a request has ended.
    ///
    /// - Parameter response: `nil` if none arrived.
    func didEnd(
        _ request: ModelRequest, with response: HTTPTransportResponse?, act: UInt64, now: Int64
    ) {
        let status = response?.head.status.code ?? 0
        state.withLock { state in
            // A process pays for a retry before it waits, so that tokens earned meanwhile are not above the capacity.
            let waiting = state.failures.values.reduce(0) { $0 + $1.count }
            if (200...299).contains(status) {
                state.budget = min(state.budget + 1, Self.capacity + waiting * Self.cost)
            }
            if let row = request.rowOfPush {
                // An update follows an undelete.
                let completes = request.phase.isWrite && request.phase != .undelete
                let isAnswered = response.map { !$0.isRepeatable(after: request) } ?? false
                if completes, isAnswered, (200...299).contains(status) {
                    state.unanswered[row] = nil
                }
                if response?.isWithoutAnswer(to: request) ?? true {
                    // Each request of act 0 can be the last one of a push.
                    let count = state.unanswered[row]?.count ?? 0
                    state.unanswered[row, default: []].insert(act == 0 ? .max - UInt64(count) : act)
                }
            }
            guard act != 0, !hasDelegate, response?.isRepeatable(after: request) ?? true else { return }
            let delay = response?.retryAfter ?? 0
            state.failures[act, default: []].append(
                Failure(
                    request: request, earliest: now + delay * 1_000_000_000,
                    endsCall: response?.isOfNoService(to: request) ?? true,
                    mayBeOfRequest: request.isOfPush && response?.mayBeOfRequest == true,
                    // After `Retry-After`, nothing else is sent until the row is known to be the only one.
                    mayBeAlone: request.rowOfPush.map {
                        state.unanswered[$0]?.count ?? 0 >= (response?.retryAfter == nil ? 3 : 4)
                    } ?? false))
        }
    }
}

extension ModelRequest {
    /// Whether the request is about the row of an operation: pulls list the rows of a query.
    fileprivate var isOfPush: Bool { phase != .list || parameters["$filter"]?.hasPrefix("id eq ") == true }

    /// The row of the operation that the request is about. A tombstone is read by a list of one row.
    var rowOfPush: RowKey? {
        if let row { return row }
        guard path.count == 2, let filter = parameters["$filter"], filter.hasPrefix("id eq '") else {
            return nil
        }
        return RowKey(table: path[1], id: String(filter.dropFirst("id eq '".count).dropLast()))
    }

    fileprivate func isEqual(to other: ModelRequest) -> Bool {
        let (one, two) = (original, other.original)
        return one.head.method == two.head.method && one.head.path == two.head.path && one.body == two.body
    }
}

extension HTTPTransportResponse {
    /// The seconds of a valid `Retry-After`, rounded down; dates in the simulation are more than two seconds later.
    fileprivate var retryAfter: Int64? {
        guard let text = head.headerFields[.retryAfter] else { return nil }
        return text.hasSuffix("GMT") ? 2 : Int64(text).flatMap { $0 < 0 ? nil : $0 }
    }

    /// Whether a gateway reports that it got no answer, or something else has answered that is neither about the user nor about
    /// the whole service.
    fileprivate func isWithoutAnswer(to request: ModelRequest) -> Bool {
        isOfNoService(to: request) && !mayBeOfRequest && !isOfService
    }

    /// Whether the status is about the user, the time or the whole service.
    private var isOfService: Bool { [401, 407, 425, 429, 511].contains(head.status.code) }

    private var isOfGateway: Bool {
        switch head.status.code {
        case 502, 503, 504, 520...530: true
        default: false
        }
    }

    /// Whether a proxy may have refused this request only, or the server have failed for it only.
    fileprivate var mayBeOfRequest: Bool {
        (400...599).contains(head.status.code) && !isBusy
    }

    /// Whether the status never shows that only this request is refused.
    private var isBusy: Bool { isOfService || isOfGateway || head.status.code == 408 }

    private var isPage: Bool { head.headerFields[.contentType] == "text/html" }

    /// Whether the response does not come from the tables service, by the specification.
    fileprivate func isOfNoService(to request: ModelRequest) -> Bool {
        switch head.status.code {
        case 401, 404: false
        case _ where isPage: true
        case 200...299: body.isEmpty && [.insert, .update, .undelete].contains(request.phase)
        case 403: ModelJSON(data: body) == nil
        case 300...399: true
        case _ where isBusy: true
        // A service of the newest dialect fails in this way for the content of a write.
        case 500
        where request.phase.isWrite && request.original.head.headerFields[.zumoAPIVersion] == "3.0.0":
            retryAfter != nil
        case 500...599: body.isEmpty
        default: false
        }
    }

    /// Whether the request can be sent again after the response: it is unknown or transient.
    fileprivate func isRepeatable(after request: ModelRequest) -> Bool {
        switch head.status.code {
        case 401, 404: false
        case 200...299 where request.phase == .delete && body.isEmpty: false
        case 200...299: isOfNoService(to: request) || ModelJSON(data: body) == nil
        case 300...399, 500...599: true
        default: isOfNoService(to: request)
        }
    }
}
