// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import SyncModels
import Synchronization

@testable import SyncSimulation

/// The network of one device, with outages that a test sets, and a list of all requests.
final class VirtualNetwork: HTTPTransport {
    enum Condition: Sendable, Hashable {
        case up
        /// No request arrives.
        case down
        /// Requests arrive, and no response.
        case answersLost
        /// Every third request does not arrive.
        case everyThirdLost
        /// A server or a gateway in between refuses every request.
        case status(Int, retryAfter: String? = nil)
        /// Requests that read rows take a minute.
        case slowPulls
        /// Requests that change rows take a minute.
        case slowPushes
        /// A captive portal answers every request with a web page.
        case portal
        /// The transport gives up although the caller's task is not cancelled.
        case cancelling
        /// The process does not run: requests fail after it has been resumed.
        case suspended
    }

    struct Request: Sendable, Hashable {
        /// Seconds since the start.
        let time: Double
        /// The method and the table.
        let summary: String
        let condition: Condition
    }

    private struct State {
        var condition = Condition.up
        var hasChangeFeed = false
        var refusesChangeFeed = false
        var refusedMarks: ClosedRange<Int>?
        var validToken: String?
        var hiddenTables: Set<String> = ["Unknown"]
        var refusedTables: [String: Int] = [:]
        var requests: [Request] = []
    }

    private let state = Mutex(State())
    private let system: VirtualSystem
    private let name: String
    private static let latency: Int64 = 20_000_000

    init(_ system: VirtualSystem, _ name: String) {
        (self.system, self.name) = (system, name)
    }

    var condition: Condition {
        get { state.withLock { $0.condition } }
        set { state.withLock { $0.condition = newValue } }
    }

    /// Whether the server has a change feed.
    var hasChangeFeed: Bool {
        get { state.withLock { $0.hasChangeFeed } }
        set { state.withLock { $0.hasChangeFeed = newValue } }
    }

    /// Whether the server answers 401 to requests to its change feed.
    var refusesChangeFeed: Bool {
        get { state.withLock { $0.refusesChangeFeed } }
        set { state.withLock { $0.refusesChangeFeed = newValue } }
    }

    /// The marks that the server's change feed refuses.
    var refusedMarks: ClosedRange<Int>? {
        get { state.withLock { $0.refusedMarks } }
        set { state.withLock { $0.refusedMarks = newValue } }
    }

    /// The only token that the server accepts; `nil` if it needs none.
    var validToken: String? {
        get { state.withLock { $0.validToken } }
        set { state.withLock { $0.validToken = newValue } }
    }

    /// The tables that the server does not show to this device.
    var hiddenTables: Set<String> {
        get { state.withLock { $0.hiddenTables } }
        set { state.withLock { $0.hiddenTables = newValue } }
    }

    /// The statuses of the server's empty responses to requests about tables.
    var refusedTables: [String: Int] {
        get { state.withLock { $0.refusedTables } }
        set { state.withLock { $0.refusedTables = newValue } }
    }

    var requests: [Request] { state.withLock { $0.requests } }

    /// Returns the requests since the last call.
    func newRequests() -> [String] {
        state.withLock { state in
            defer { state.requests = [] }
            return state.requests.map(\.summary)
        }
    }

    func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        let path = request.head.path?.prefix { $0 != "?" }.split(separator: "/") ?? []
        let table = path.dropFirst().joined(separator: " ")
        let condition = state.withLock { state in
            let summary = "\(request.head.method) \(table)"
            let hasOtherToken = state.validToken.map { $0 != request.head.headerFields[.zumoAuth] } ?? false
            let isRefused = hasOtherToken || state.refusesChangeFeed && path.last == "changes"
            let condition = isRefused ? .status(401) : state.condition
            state.requests.append(
                Request(time: system.time / .seconds(1), summary: summary, condition: condition))
            return condition
        }
        let isThird = state.withLock { $0.requests.count.isMultiple(of: 3) }
        let isSlow = condition == (request.head.method == .get ? .slowPulls : .slowPushes)
        try await system.scheduler.sleep(isSlow ? 60_000_000_000 : Self.latency)
        if let status = path.dropFirst().first.flatMap({ refusedTables[String($0)] }) {
            return HTTPTransportResponse(status: .init(code: status))
        }
        switch condition {
        case .up where hiddenTables.contains { request.head.path?.contains($0) == true }:
            return HTTPTransportResponse(
                status: .notFound, headerFields: [.contentType: "application/json"],
                body: Data(#"{"error":"The server has no such table."}"#.utf8))
        case .up where path.last == "changes" && hasChangeFeed: return try await changes(request)
        case .everyThirdLost where isThird: throw URLError(.notConnectedToInternet)
        case .up, .slowPulls, .slowPushes, .everyThirdLost:
            return system.server.respond(to: ModelRequest(request), from: name)
        case .portal:
            return HTTPTransportResponse(
                status: .ok, headerFields: [.contentType: "text/html"], body: Data("<html></html>".utf8))
        case .down: throw URLError(.notConnectedToInternet)
        case .cancelling: throw CancellationError()
        case .suspended:
            while self.condition == .suspended { try await system.scheduler.sleep(60_000_000_000) }
            throw URLError(.networkConnectionLost)
        case .answersLost:
            _ = system.server.respond(to: ModelRequest(request), from: name)
            throw URLError(.networkConnectionLost)
        case .status(let status, let retryAfter):
            var fields: HTTPFields = [.contentType: "application/json"]
            fields[.retryAfter] = retryAfter
            return HTTPTransportResponse(
                status: .init(code: status), headerFields: fields, body: Data(#"{"error":"refused"}"#.utf8))
        }
    }

    /// Responds as a change feed, after the next change or 25 seconds. The mark is the number of the server's changes.
    private func changes(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        let last = request.head.headerFields[.lastEventID].flatMap(Int.init)
        if let last, refusedMarks?.contains(last) == true {
            return HTTPTransportResponse(
                status: .badRequest, headerFields: [.contentType: "application/json"],
                body: Data(#"{"error":"The server does not know the mark."}"#.utf8))
        }
        var polls = 0
        while system.server.changeCount == last, polls < 250 {
            try await system.scheduler.sleep(100_000_000)
            polls += 1
        }
        let journal = system.server.journal
        let changed = last.map { Set(journal[$0...].map(\.table)) } ?? ["TodoItem", "TodoList"]
        let events = changed.sorted().map { "id: \(journal.count)\ndata: \($0)\n\n" }.joined()
        return HTTPTransportResponse(
            status: .ok, headerFields: [.contentType: "text/event-stream"],
            body: Data((events.isEmpty ? ":\n\n" : events).utf8))
    }
}
