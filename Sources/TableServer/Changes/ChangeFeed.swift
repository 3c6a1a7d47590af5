// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

/// The server-sent events that tell one client that a table has changed, and nothing more.
///
/// The id of an event is a mark of the state of the rows that the client can see. A client that returns it in
/// `Last-Event-ID` misses no change between two requests.
struct ChangeFeed: Sendable {
    let storage: any RowStorage
    let scope: RowScope
    /// The mark that the client has received last.
    let lastMark: String?
    /// The feed ends after the first event, or after this time; `nil` for a feed that ends with its connection.
    let wait: Duration?

    /// How often a feed looks for changes of other processes, if the storage does not report them.
    private static let pollInterval = Duration.seconds(1)
    /// A comment after this time without an event shows proxies, and the server, that the other end is there.
    private static let maxSilence = Duration.seconds(15)

    /// Sends events until the feed ends, the server stops or sending fails.
    func run(_ send: (String) async throws -> Void) async throws {
        let changes = storage.changes
        let (number, wakes) = changes.listen(to: scope.table.key)
        defer { changes.remove(number) }
        let ticks = Task {
            while (try? await Task.sleep(for: Self.pollInterval)) != nil { changes.wake(number) }
        }
        defer { ticks.cancel() }
        let start = ContinuousClock.now
        var (mark, lastSend, mayHaveChanged) = (lastMark, start, true)
        var iterator = wakes.makeAsyncIterator()
        while true {
            if mayHaveChanged {
                let current = try await storage.read(scope) { rows in try rows.changeMark() }
                if current != mark {
                    try await send("id: \(current)\ndata: \(scope.table.name)\n\n")
                    if wait != nil { return }
                    (mark, lastSend) = (current, .now)
                }
            }
            if let wait, .now - start >= wait { return try await send(":\n\n") }
            if .now - lastSend >= Self.maxSilence {
                try await send(":\n\n")
                lastSend = .now
            }
            guard await iterator.next() != nil else { return }
            mayHaveChanged = changes.takeChange(number) || storage.hasUnreportedChanges
        }
    }
}

extension TableService {
    /// The longest wait of a feed that ends after its first event, in seconds.
    private static let maxWait = 60

    /// Returns the response whose body is a change feed.
    func changes(_ request: RecordedRequest, _ scope: RowScope) throws(RequestError) -> ServerResponse {
        var wait: Duration?
        if let text = request.parameter("wait") {
            guard let seconds = Int(text), (0...Self.maxWait).contains(seconds) else {
                throw .badRequest(
                    "'wait' must be a number of seconds from 0 to \(Self.maxWait), not '\(text)'.")
            }
            wait = .seconds(seconds)
        }
        return ServerResponse(
            status: 200,
            headers: [("Content-Type", "text/event-stream"), ("Cache-Control", "no-store")],
            body: Data(),
            feed: ChangeFeed(
                storage: storage, scope: scope, lastMark: request.header("Last-Event-ID"), wait: wait))
    }
}

extension RecordedRequest {
    /// Whether the client reads server-sent events. To other clients, `changes` is the id of a row.
    var acceptsEvents: Bool { header("Accept")?.contains("text/event-stream") ?? false }
}
