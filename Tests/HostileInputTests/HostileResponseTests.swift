// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import SyncCore
import Synchronization
import TestSupport
import Testing

/// Responses to writes that no healthy server sends. No change is lost, doubled or hidden.
@Suite struct HostileResponseTests {
    /// The result of a push that receives one hostile response.
    enum Outcome: Hashable, Sendable {
        /// The push succeeds, and the operation is completed.
        case completed
        /// The push ends early with this code, and the operation stays in the queue.
        case aborted(SyncError.Code)
        /// The push reports the operation with this code, and the operation stays in the queue.
        case reported(SyncError.Code)
    }

    static let row = #"{"id":"m","text":"two","version":"made-up","updatedAt":"2020-01-01T00:00:00Z"}"#
    static let error = #"{"error":"no"}"#
    static let html = "<!DOCTYPE html><html><body>Sign in to the hotel's network</body></html>"

    static let updates: [(status: Int, body: String, Outcome)] = [
        // A success needs a row.
        (200, row, .completed), (201, row, .completed), (299, row, .completed),
        (204, "", .aborted(.pushAbortedService)),
        (200, "", .aborted(.pushAbortedService)), (200, html, .aborted(.pushAbortedService)),
        (200, "  \n" + html, .aborted(.pushAbortedService)), (200, "null", .reported(.serverError)),
        (200, "[]", .reported(.serverError)), (200, "[\(row)]", .reported(.serverError)),
        (200, "true", .reported(.serverError)), (200, "\"m\"", .reported(.serverError)),
        (200, "{", .reported(.serverError)), (200, row + row, .reported(.serverError)),
        (200, row + "\u{0}", .reported(.serverError)),
        (200, String(row.dropLast()), .reported(.serverError)),
        (200, "{}", .reported(.serverError)),
        (200, #"{"text":"two"}"#, .reported(.serverError)),
        (200, #"{"id":5}"#, .reported(.serverError)),
        (200, #"{"id":"other","version":"1"}"#, .reported(.serverError)),
        (200, #"{"id":"M","version":"1"}"#, .reported(.serverError)),
        (200, #"{"id":"m","version":5}"#, .reported(.serverError)),
        (200, #"{"id":"m","updatedAt":"soon"}"#, .reported(.serverError)),
        (200, #"{"id":"m","deleted":"no"}"#, .reported(.serverError)),
        (200, "\u{FEFF}" + row, .completed),
        (200, #"{"id":"m","text":"\ud800"}"#, .completed),
        (200, #"{"id":"m","version":"\ud800"}"#, .reported(.serverError)),
        (200, #"{"id":"\ud800"}"#, .reported(.serverError)),
        (200, #"{"id":"m","text":"\ud800""#, .reported(.serverError)),
        (200, String(repeating: "[", count: 100_000), .reported(.serverError)),
        // Statuses that say nothing about the row.
        (100, row, .aborted(.pushAbortedService)), (101, row, .aborted(.pushAbortedService)),
        (300, row, .aborted(.pushAbortedService)), (301, "", .aborted(.pushAbortedService)),
        (302, html, .aborted(.pushAbortedService)), (304, "", .aborted(.pushAbortedService)),
        (307, row, .aborted(.pushAbortedService)), (399, error, .aborted(.pushAbortedService)),
        (401, "", .aborted(.pushAbortedAuthentication)), (401, row, .aborted(.pushAbortedAuthentication)),
        (403, "", .aborted(.pushAbortedService)), (403, html, .aborted(.pushAbortedService)),
        (403, "no", .aborted(.pushAbortedService)), (407, error, .aborted(.pushAbortedService)),
        (408, error, .aborted(.pushAbortedService)), (425, error, .aborted(.pushAbortedService)),
        (429, error, .aborted(.pushAbortedService)), (400, html, .aborted(.pushAbortedService)),
        (409, html, .aborted(.pushAbortedService)), (412, html, .aborted(.pushAbortedService)),
        (500, "", .aborted(.pushAbortedService)), (500, html, .aborted(.pushAbortedService)),
        (502, row, .aborted(.pushAbortedService)), (503, error, .aborted(.pushAbortedService)),
        (504, "", .aborted(.pushAbortedService)), (511, html, .aborted(.pushAbortedService)),
        (520, error, .aborted(.pushAbortedService)), (530, error, .aborted(.pushAbortedService)),
        // Refusals of the tables service.
        (400, error, .reported(.serverError)), (400, "", .reported(.serverErrorWithoutMessage)),
        (400, "{}", .reported(.serverErrorWithoutMessage)),
        (400, "[]", .reported(.serverErrorWithoutMessage)),
        (403, error, .reported(.serverError)), (405, error, .reported(.serverError)),
        (413, error, .reported(.serverError)),
        (422, error, .reported(.serverError)), (418, "plain text", .reported(.serverError)),
        (451, "{\"id\":", .reported(.serverError)), (500, error, .reported(.serverError)),
        (501, error, .reported(.serverError)),
        (599, error, .reported(.serverError)),
    ]

    @Test(arguments: [false, true], updates)
    func `after a hostile response to an update its change is on the server once`(
        isApplied: Bool, _ update: (status: Int, body: String, outcome: Outcome)
    ) async throws {
        var settings = SyncSettings()
        settings.retry.maxAttempts = 1
        try await Client.run(settings: settings) { client in
            try await client.table.insert(["id": "m", "text": "one"])
            try await client.context.push()
            try await client.table.update(id: "m", ["text": "two"])

            client.server.respondToWrites(.init(update.status, update.body, applies: isApplied))
            let outcome = try await self.outcome(of: client)
            #expect(outcome == update.outcome)
            #expect(try await client.table.item(id: "m")?["text"] == "two")
            let isPending = try await client.context.pendingOperations().map(\.itemID) == ["m"]
            #expect(isPending == (outcome != .completed))

            client.server.respond(nil)
            // The server lied when it said that it applied the update: no client can know.
            guard isApplied || outcome != .completed else { return }
            try await client.expectHealthySync()
            #expect(client.server.row("m")?.fields["text"] == "two")
            #expect(client.server.row("m")?.writeCount == 2, "The update was applied more than once.")
        }
    }

    private func outcome(of client: Client) async throws -> Outcome {
        do {
            try await client.context.push()
            return .completed
        } catch let error as SyncError where error.code == .pushCompletedWithErrors {
            let errors = error.pushResult?.errors ?? []
            #expect(errors.count == 1)
            return .reported(errors.first?.code ?? .internalError)
        } catch let error as SyncError {
            return .aborted(error.code)
        }
    }

    /// The statuses that servers use, and the ends of each class.
    static let statuses: [Int] =
        [100, 101, 199, 226, 299, 399, 451, 499, 599] + Array(200...208) + Array(300...308) + Array(400...431)
        + Array(500...511) + Array(520...530)

    static let bodies = ["", row, error, html, "[]", "plain text", "{\"id\":", #"{"id":"other"}"#]

    @Test(arguments: TableOperation.Kind.allCases, [false, true])
    func `no status and body loses or doubles a change`(kind: TableOperation.Kind, isApplied: Bool)
        async throws
    {
        var settings = SyncSettings()
        settings.retry.maxAttempts = 1
        try await Client.run(settings: settings) { client in
            for status in Set(Thoroughness.sample(Self.statuses, every: 3) + [401, 404, 409, 412, 429]) {
                for (index, body) in Self.bodies.enumerated() {
                    let id = "\(status)-\(index)"
                    let response = HostileServer.Response(
                        status, body.replacing(#""m""#, with: #""\#(id)""#), applies: isApplied)
                    try await check(kind, id, response, client, showsSentRow: body == Self.row)
                }
            }
        }
    }

    private func check(
        _ kind: TableOperation.Kind, _ id: String, _ response: HostileServer.Response, _ client: Client,
        showsSentRow: Bool
    ) async throws {
        let (context, server, table) = (client.context, client.server, client.table)
        let comment: Comment = "\(response)"
        if kind != .insert {
            try await table.insert(["id": .text(id), "text": "one"])
            try await context.push()
        }
        switch kind {
        case .insert: try await table.insert(["id": .text(id), "text": "two"])
        case .update: try await table.update(id: id, ["text": "two"])
        case .delete: try await table.delete(id: id)
        }
        server.respondToWrites(response)
        _ = try? await context.push()
        server.respond(nil)
        let isPending = try await context.pendingOperationCount() > 0
        if !response.appliesRequest, !isPending {
            // The server said that it applied the request, that it has exactly the row that was sent, or that it has no row
            // to delete.
            let isClaim =
                (200...299).contains(response.status)
                || kind == .delete && [404, 410].contains(response.status)
                || kind != .delete && [409, 412].contains(response.status) && showsSentRow
            #expect(isClaim, comment)
            return
        }
        try await resolveAll(client)
        #expect(try await context.pendingOperationCount() == 0, comment)
        let row = server.row(id)
        #expect(row?.fields["text"] == (kind == .delete ? nil : "two"), comment)
        #expect(row.map { $0.writeCount == (kind == .insert ? 1 : 2) } ?? (kind == .delete), comment)
    }

    /// Pushes until the queue is empty, and resolves each conflict with the client's item.
    private func resolveAll(_ client: Client) async throws {
        for _ in 0..<5 {
            do {
                try await client.context.push()
                return
            } catch let error as SyncError {
                for error in error.pushResult?.errors ?? [] where error.isConflict {
                    if error.kind == .delete {
                        try await client.context.changeKind(for: error, to: .delete)
                    } else if let item = try await client.table.item(id: error.itemID) {
                        try await client.context.keepAndUpdateItem(for: error, with: item)
                    }
                }
            }
        }
    }

    @Test(
        arguments: [
            (#""a""#, #""a""#), (#"W/"a""#, #""body""#), ("a", #""a""#), ("*", #""body""#),
            (#""""#, #""body""#),
            (#""a\"b""#, #""a\"b""#), (#""a"b""#, #""body""#), (#""a", "b""#, #""body""#),
            (#""a\""#, #""a\""#),
            (#"\"#, #""\""#), (#"""#, #""body""#), ("W/", #""body""#), ("w/\"a\"", #""body""#),
            ("", #""body""#),
            (#""W/"#, #""body""#), (#"" a ""#, #"" a ""#), (#""a,b""#, #""a,b""#), (#""*""#, #""*""#),
            (#""\\\"""#, #""\\\"""#),
            (String(repeating: "v", count: 8000), "\"" + String(repeating: "v", count: 8000) + "\""),
        ])
    func `the next update is conditional on the version of a strong entity tag, else of the row`(
        tag: String, condition: String
    ) async throws {
        try await Client.run { client in
            client.server.respondToWrites(
                .init(201, headers: [.eTag: tag], #"{"id":"m","text":"one","version":"body"}"#))
            try await client.table.insert(["id": "m", "text": "one"])
            try await client.context.push()
            try await client.table.update(id: "m", ["text": "two"])
            try await client.context.push()
            #expect(client.server.requests.last?.head.headerFields[.ifMatch] == condition)
        }
    }

    @Test(arguments: ["é", "a\nb", "\u{0}", "\u{7F}", "\u{202E}", "a\r\nX-Evil: 1"])
    func `an update of a version that no header can contain is reported and not sent unconditionally`(
        version: String
    ) async throws {
        try await Client.run { client in
            let row: ItemValue = ["id": "m", "text": "one", "version": .text(version)]
            client.server.respondOnce(.init(200, "[\(String(decoding: row.json, as: UTF8.self))]"))
            try await client.pull()
            try await client.table.update(id: "m", ["text": "two"])
            client.server.removeRequests()
            #expect(try await outcome(of: client) == .reported(.invalidRequest))
            #expect(client.server.requests.isEmpty)
            #expect(try await client.table.item(id: "m")?["text"] == "two")
            #expect(try await client.context.pendingOperations().count == 1)
        }
    }

    /// What a push does after a 503 with `Retry-After`.
    enum Delay: Hashable, Sendable {
        case waits(Int)
        case ends(retryAfter: Int?)
    }

    @Test(
        arguments: [
            ("0", .waits(0)), ("1", .waits(1)), ("60", .waits(60)), ("61", .ends(retryAfter: 61)),
            ("007", .waits(7)),
            ("86400", .ends(retryAfter: 86_400)), ("2147483648", .ends(retryAfter: 2_147_483_648)),
            ("-1", .waits(0)), ("+1", .waits(0)), ("1.5", .waits(0)), ("1e9", .waits(0)), ("abc", .waits(0)),
            ("", .waits(0)),
            ("1 2", .waits(0)), ("1,2", .waits(0)), ("0x10", .waits(0)), ("٣", .waits(0)), ("NaN", .waits(0)),
            ("Thu, 01 Jan 1970 00:00:30 GMT", .waits(30)),
            ("Thu, 01 Jan 1970 00:05:00 GMT", .ends(retryAfter: 300)),
            ("Wed, 31 Dec 1969 00:00:00 GMT", .waits(0)), ("Thu, 01 Jan 1970 00:00:30", .waits(0)),
            ("Thu, 31 Feb 1970 00:00:30 GMT", .waits(0)), ("1970-01-01T00:00:30Z", .waits(0)),
            ("Fri, 31 Dec 9999 23:59:59 GMT", .ends(retryAfter: 253_402_300_799)),
        ] as [(String, Delay)])
    func `Retry-After delays the next attempt or ends the push`(value: String, delay: Delay) async throws {
        let sleeps = Mutex<[Duration]>([])
        var environment = SyncEnvironment.instant
        environment.now = { .unixEpoch }
        environment.random = { 0 }
        environment.sleep = { duration in sleeps.withLock { $0.append(duration) } }
        var settings = SyncSettings()
        settings.retry.maxAttempts = 2
        try await Client.run(settings: settings, environment: environment) { client in
            client.server.respondToWrites(.init(503, headers: [.retryAfter: value], Self.error))
            try await client.table.insert(["id": "m"])
            let error = await #expect(throws: SyncError.self) { try await client.context.push() }
            #expect(error?.code == .pushAbortedService)
            switch delay {
            case .waits(let seconds): #expect(sleeps.withLock { $0 } == [.seconds(seconds)])
            case .ends(let seconds):
                #expect(sleeps.withLock { $0 }.isEmpty)
                #expect(error?.retryAfter == seconds.map { .seconds($0) })
            }
            try await client.expectHealthySync()
        }
    }

    @Test func `the longest Retry-After ends the push`() async throws {
        for value in ["9223372036854775807", "9223372036854775808", String(repeating: "9", count: 5000)] {
            try await Client.run { client in
                client.server.respondToWrites(.init(503, headers: [.retryAfter: value], Self.error))
                try await client.table.insert(["id": "m"])
                let error = await #expect(throws: SyncError.self) { try await client.context.push() }
                #expect(error.map { $0.retryAfter ?? .zero > .seconds(1_000_000_000) } == true)
                try await client.expectHealthySync()
            }
        }
    }

    @Test(arguments: [
        "", "now", "Thu, 01 Jan 1970 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT",
        "Mon, 00 Jan 2024 00:00:00 GMT",
        "Mon, 01 Jan 2024 25:00:00 GMT", "2024-01-01T00:00:00Z", "Mon, 01 Jan 2024 00:00:00 PST", "0",
    ])
    func `no Date header makes a pull miss a later row`(date: String) async throws {
        try await Client.run { client in
            let row = #"[{"id":"a","updatedAt":"2020-01-01T00:00:00Z"}]"#
            client.server.respondOnce(.init(200, headers: [.date: date], row))
            #expect(try await client.pull().upserted == 1)
            try await client.expectLaterRowsArePulled()
        }
    }
}
