// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logging
import StoreMemory
import Synchronization
import TestSupport
import Testing

@testable import SyncCore

struct SyncEventTests {
    private static let operation = TableOperation(
        id: 7, table: "Todo", itemID: "secret-id", kind: .update, lastStatus: 400, changedAt: nil)

    private static let events: [(event: SyncEvent, level: Logger.Level)] = [
        (.request(.init(table: "Todo", kind: .insert, status: 201, duration: .milliseconds(3))), .debug),
        (
            .retry(.init(table: "Todo", kind: .query, status: nil, attempt: 1, delay: .seconds(1))), .debug
        ),
        (.pageStored(.init(table: "Todo", rows: .init(PullResult()))), .debug),
        (.pushEnded(.init([:], hasErrors: false, duration: .zero)), .info),
        (.pullEnded(.init("Todo", PullResult(), duration: .zero)), .info),
        (.conflict(.init(operation, .keepServer)), .notice),
        (.parked(.init(operation)), .warning),
        (.rowUnreadable(table: "Todo"), .warning),
    ]

    @Test(arguments: events.indices) func `each event has its level, and its table in the metadata`(
        _ index: Int
    ) {
        let (event, level) = Self.events[index]
        let log = RecordingLog()
        SyncLog(logger: log.logger(.trace)).record(event)
        #expect(log.entries.map(\.level) == [level])
        if case .pushEnded = event { return }
        #expect(log.entries.first?.metadata["table"] == "Todo")
    }

    @Test func `an event below the logger's level is not logged`() {
        let log = RecordingLog()
        for (event, _) in Self.events { SyncLog(logger: log.logger(.notice)).record(event) }
        #expect(log.entries.map(\.level) == [.notice, .warning, .warning])
    }

    @Test func `an item's id is logged at level trace only, and as a hash at other levels`() {
        let (traced, hashed) = (RecordingLog(), RecordingLog())
        for (log, level) in [(traced, Logger.Level.trace), (hashed, .debug)] {
            SyncLog(logger: log.logger(level)).record(.parked(.init(Self.operation)), .init(Self.operation))
        }
        #expect(traced.entries.first?.metadata["item"] == "secret-id")
        #expect(hashed.entries.first?.metadata["item"] == "\(SyncLog.hash(of: "secret-id"))")
        #expect(!hashed.text.contains("secret-id"))
        #expect(hashed.entries.first?.metadata["operation"] == "7")
        #expect(hashed.entries.first?.metadata["status"] == "400")
    }

    @Test func `the hash of an id has eight hexadecimal digits and is the same within a process`() {
        let hash = SyncLog.hash(of: "a")
        #expect(hash.count == 8)
        let isHexadecimal = hash.allSatisfy { $0.isHexDigit }
        #expect(isHexadecimal)
        #expect(hash == SyncLog.hash(of: "a"))
        #expect(hash != SyncLog.hash(of: "b"))
    }

    @Test func `a status is counted by its class`() {
        func statusClass(_ status: Int?) -> String {
            SyncEvent.Request(table: "T", kind: .read, status: status, duration: .zero).statusClass
        }
        #expect([200, 404, 503, nil].map(statusClass) == ["2xx", "4xx", "5xx", "none"])
    }

    @Test func `the end of a push or pull tells how it ended`() {
        let failed = SyncEvent.OperationGroup(table: "T", kind: .insert, outcome: .failed)
        let abort = SyncError(.pushAbortedNetwork, "offline")
        func outcome(_ abort: SyncError? = nil, hasErrors: Bool) -> SyncEvent.Outcome {
            SyncEvent.PushEnded([failed: 1], abort: abort, hasErrors: hasErrors, duration: .zero).outcome
        }
        #expect(outcome(hasErrors: false) == .completed)
        #expect(outcome(hasErrors: true) == .completedWithErrors)
        #expect(outcome(abort, hasErrors: true) == .aborted)
        let cancelled = SyncEvent.PullEnded("T", PullResult(), error: CancellationError(), duration: .zero)
        #expect(cancelled.outcome == .cancelled)
    }

    @Test func `requests of a push reach the hook and the log, without fields, tokens, ids or URLs`()
        async throws
    {
        let log = RecordingLog()
        let received = Mutex<[SyncEvent]>([])
        let context = try context(log) { event in received.withLock { $0.append(event) } }
        try await context.table("Todo").insert(["id": "secret-id", "text": "secret text"])
        try await context.push()
        let requests = received.withLock { events in
            events.compactMap { event in
                if case .request(let request) = event { request } else { nil }
            }
        }
        #expect(requests == [.init(table: "Todo", kind: .insert, status: 201, duration: .zero)])
        #expect(log.entries.contains { $0.message == "request" && $0.metadata["kind"] == "insert" })
        for secret in ["secret", "example.com"] {
            #expect(!log.text.contains(secret))
            #expect(received.withLock { !"\($0)".contains(secret) })
        }
    }

    @Test func `without a hook and a log no event is built`() throws {
        let context = try context(nil, onEvent: nil)
        var isBuilt = false
        func event() -> SyncEvent {
            isBuilt = true
            return .rowUnreadable(table: "Todo")
        }
        context.emit(event())
        #expect(!isBuilt)
    }

    private func context(
        _ log: RecordingLog?, onEvent: (@Sendable (SyncEvent) -> Void)?
    ) throws -> SyncContext {
        let transport = ScriptedTransport(
            201, #"{"id":"secret-id","text":"secret text","version":"1"}"#)
        let client = SyncClient(
            url: try #require(URL(string: "https://example.com")), transport: transport,
            logger: log?.logger(.debug))
        client.authenticationToken = "secret-token"
        let definition = SyncTableDefinition("Todo", columns: [SyncColumn("text", .text)])
        var settings = SyncSettings()
        settings.onEvent = onEvent
        return SyncContext(
            client: client, dataSource: try MemoryStore(tables: [definition]), settings: settings,
            environment: .inline)
    }
}

/// Keeps the messages of a logger.
private final class RecordingLog: Sendable {
    struct Entry: Sendable {
        let level: Logger.Level
        let message: String
        let metadata: Logger.Metadata
    }

    private let recorded = Mutex<[Entry]>([])

    var entries: [Entry] { recorded.withLock { $0 } }
    var text: String { entries.map { "\($0.message) \($0.metadata)" }.joined(separator: "\n") }

    func record(_ entry: Entry) { recorded.withLock { $0.append(entry) } }

    func logger(_ level: Logger.Level) -> Logger {
        TestLogHandler.logger(level) { event in
            self.record(
                Entry(level: event.level, message: "\(event.message)", metadata: event.metadata ?? [:]))
        }
    }
}
