// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

/// The server-sent events that tell one client which of some tables have changed, and nothing more.
///
/// The id of an event is a mark of the state of the rows that the client can see. A client that returns it in
/// `Last-Event-ID` misses no change between two requests.
struct ChangeFeed: Sendable {
    let storage: any RowStorage
    let scopes: [RowScope]
    /// The names of the tables as the client spells them.
    let names: [String]
    /// The mark that the client has received last.
    let lastMark: String?
    /// The feed ends after the first change, or after this time; `nil` for a feed that ends with its connection.
    let wait: Duration?
    let clock: ServerClock
    /// The feed ends when the client's token does; `nil` without one.
    let end: Timestamp?
    let permit: FeedPermit

    /// How often a feed looks whether its time has passed.
    private static let tickInterval = Duration.seconds(1)
    /// A comment after this time without an event shows proxies, and the server, that the other end is there.
    private static let maxSilence = Duration.seconds(15)

    /// Sends events until the feed ends, the server stops or sending fails.
    ///
    /// - Parameter onStart: gets the action that ends the feed when its client has gone.
    func run(
        _ send: (String) async throws -> Void,
        onStart: (_ end: @escaping @Sendable () -> Void) async throws -> Void = { _ in }
    ) async throws {
        // Before the end of the response, so that the client can send the next request at once.
        defer { permit.release() }
        let changes = storage.changes
        let (number, wakes) = changes.listen(
            to: scopes, in: storage.hasUnreportedChanges ? storage : nil)
        defer { changes.remove(number) }
        try await onStart { changes.remove(number) }
        let ticks = Task {
            while (try? await Task.sleep(for: Self.tickInterval)) != nil { changes.wake(number) }
        }
        defer { ticks.cancel() }
        let start = ContinuousClock.now
        var (marks, lastSend, isFirstLook) = (lastMarks, start, true)
        var iterator = wakes.makeAsyncIterator()
        while end.map(clock.now.isEarlier) ?? true {
            // Taken before the look, so that a later change causes another one.
            let changed = changes.takeChanges(number)
            let events = try await events(of: isFirstLook ? nil : changed, after: &marks)
            isFirstLook = false
            if !events.isEmpty {
                try await send(events)
                if wait != nil { return }
                lastSend = .now
            }
            if let wait, .now - start >= wait { return try await send(":\n\n") }
            if .now - lastSend >= Self.maxSilence {
                try await send(":\n\n")
                lastSend = .now
            }
            guard await iterator.next() != nil else { return }
        }
    }

    /// The marks of the tables, in their order.
    private var lastMarks: [String?] {
        let marks = (lastMark ?? "").split(separator: ",").map(String.init)
        return marks.count == scopes.count ? marks : scopes.map { _ in nil }
    }

    /// Returns an event for each table that has changed. Its id does not cover the events after it.
    ///
    /// - Parameter keys: the tables that are reported as changed, whose queries all feeds of the scope share; `nil` for all
    ///   tables at the start of the feed, whose client may know of changes that are not reported yet.
    private func events(of keys: Set<String>?, after marks: inout [String?]) async throws -> String {
        var events = ""
        for (index, scope) in scopes.enumerated() where keys?.contains(scope.table.key) ?? true {
            let mark =
                try await keys == nil
                ? storage.mark(of: scope) : storage.changes.mark(of: scope, in: storage)
            guard mark != marks[index] else { continue }
            marks[index] = mark
            let id = marks.compactMap(\.self).joined(separator: ",")
            events += "id: \(id)\ndata: \(names[index])\n\n"
        }
        return events
    }
}

extension TableService {
    /// The longest wait of a feed that ends after its first change, in seconds.
    private static let maxWait = 60
    private static let maxTables = 100

    /// Returns the response whose body is the change feed of the table, and of those that the parameter `tables` names.
    ///
    /// - Throws: an error of the request, one of a database that is not available, and status 503 when too many feeds are open.
    func changes(
        _ request: RecordedRequest, of name: String, _ scope: RowScope, _ caller: Caller
    ) async throws -> ServerResponse {
        var wait: Duration?
        if let text = request.parameter("wait") {
            guard let seconds = Int(text), (0...Self.maxWait).contains(seconds) else {
                throw RequestError.badRequest(
                    "'wait' must be a number of seconds from 0 to \(Self.maxWait), not '\(text)'.")
            }
            wait = .seconds(seconds)
        }
        var (scopes, names) = ([scope], [name])
        for name in (request.parameter("tables") ?? "").split(separator: ",").map(String.init) {
            guard let table = settings.table(named: name) else {
                throw RequestError(status: 404, message: "The server has no table '\(name)'.")
            }
            try caller.require(table.permissions.read)
            guard !scopes.contains(where: { $0.table.key == table.key }) else { continue }
            scopes.append(RowScope(table: table, of: caller))
            names.append(name)
        }
        guard scopes.count <= Self.maxTables else {
            throw RequestError.badRequest("A feed has at most \(Self.maxTables) tables.")
        }
        try await storage.check()
        let permit = try storage.changes.feeds.permit(
            for: caller == .anonymous ? nil : caller.id, settings)
        return ServerResponse(
            status: 200,
            headers: [("Content-Type", "text/event-stream")], body: Data(),
            feed: ChangeFeed(
                storage: storage, scopes: scopes, names: names, lastMark: request.header("Last-Event-ID"),
                wait: wait, clock: settings.clock, end: caller.end, permit: permit))
    }
}

extension RowScope {
    /// The rows that the caller sees.
    init(table: TableServer.Table, of caller: Caller) {
        self.init(table: table, owner: table.isPerUser ? caller.id : "")
    }
}

extension RecordedRequest {
    /// Whether the client reads server-sent events. To other clients, `changes` is the id of a row.
    var acceptsEvents: Bool { headerList("Accept")?.contains("text/event-stream") ?? false }
}
