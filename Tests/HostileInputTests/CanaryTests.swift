// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Logging
import SyncCore
import Synchronization
import TestSupport
import Testing

/// A whole sync, with failures of every kind, in which the token, the key and the items contain canaries. They appear where
/// they belong and nowhere else.
@Suite struct CanaryTests {
    private static let token = "CANARY-token"
    private static let key = "CANARY-key"
    private static let field = "CANARY-field"
    private static let number = 82_540_417
    private static let itemID = "CANARY-id"
    private static let credentials = [token, key]

    /// Everything that an app can print, log or store.
    private final class Output: Sendable {
        private let texts = Mutex<[String]>([])

        var all: [String] { texts.withLock { $0 } }

        func record(_ text: String) { texts.withLock { $0.append(text) } }

        /// Records the error in every form in which apps print errors, with its causes.
        func record(_ error: any Error) {
            record("\(error)")
            record(String(reflecting: error))
            record(error.localizedDescription)
            if let error = error as? SyncError {
                record(error.message)
                if let cause = error.cause { record(cause) }
                for error in error.pushResult?.errors ?? [] { record("\(error) \(error.message)") }
            }
        }

        func recordDump(of value: some Any) {
            var text = ""
            dump(value, to: &text)
            record(text)
        }
    }

    @Test(arguments: StoreKind.allCases, [Logger.Level.trace, .debug])
    func `credentials, fields and ids appear in no log, error, event, dump or file where they do not belong`(
        _ kind: StoreKind, level: Logger.Level
    ) async throws {
        let output = Output()
        let directory = try TemporaryDirectory()
        let server = try HostileServer()
        let logger = TestLogHandler.logger(level) { event in
            output.record("\(event.message) \(event.metadata ?? [:])")
        }
        let client = SyncClient(
            url: HostileServer.url, transport: server, applicationKey: Self.key, installationID: "a",
            logger: logger, refreshAuthentication: { Self.token })
        client.authenticationToken = Self.token
        var settings = SyncSettings()
        settings.onEvent = { output.record("\($0) \(String(reflecting: $0))") }
        settings.parkAfterRefusals = 2
        let context = SyncContext(
            client: client, dataSource: try kind.open(at: directory.file()), userID: "user",
            settings: settings,
            environment: .instant)
        try await sync(context, server, output)
        output.recordDump(of: client)
        output.recordDump(of: context)
        output.record("\(client) \(context) \(try await context.status())")
        try await context.close()

        // The canaries were used.
        #expect(server.requests.count > 20)
        #expect(server.requests.allSatisfy { $0.head.headerFields[.init("X-ZUMO-AUTH")!] == Self.token })
        #expect(server.requests.allSatisfy { $0.head.authority == HostileServer.url.host() })
        #expect(output.all.count > 50)
        // The URL of a request contains the constants of its filter.
        var requests = ""
        dump(server.requests, to: &requests)
        #expect(requests.contains(Self.field))
        for canary in Self.credentials { #expect(!requests.contains(canary)) }
        for text in output.all {
            for canary in Self.credentials { #expect(!text.contains(canary), "\(text)") }
            #expect(!text.contains(Self.field), "\(text)")
            #expect(!text.contains("\(Self.number)"), "\(text)")
        }
        try expectNoCredential(inFilesOf: directory)
    }

    /// Pushes and pulls with a response of every class.
    private func sync(_ context: SyncContext, _ server: HostileServer, _ output: Output) async throws {
        let table = context.table(Thing.name)
        let echo = #"{"error":"bad token \#(Self.token) and key \#(Self.key)"}"#
        for status in [200, 301, 400, 401, 403, 404, 409, 412, 418, 429, 500, 503] {
            let id = ItemValue.text("\(Self.itemID)-\(status)")
            try await table.insert(["id": id, "text": .text(Self.field), "json": [.text(Self.field)]])
            for body in [echo, "<html>\(Self.token)</html>", Self.token, "{\"id\":\"\(Self.key)\"", ""] {
                server.respond { _ in HostileServer.Response(status, body) }
                do { try await context.push() } catch { output.record(error) }
                do { try await context.pull(Thing.query, queryID: "all") } catch { output.record(error) }
                do {
                    _ = try await context.client.table(Thing.name).query(
                        Thing.query.where(.column("text") == Self.field))
                } catch { output.record(error) }
            }
        }
        server.respondOnce(
            .init(
                200,
                #"[{"id":"b","integer":"\#(Self.field)"},{"id":"c","date":"\#(Self.field)"},"#
                    + #"{"id":"d","integer":\#(Self.number).5}]"#))
        var settings = PullSettings()
        settings.pending = .pullAnyway
        let result = try await context.pull(Thing.query, queryID: "all", settings: settings)
        for row in result.unreadable { output.record("\(row) \(row.reason)") }
        let invalid: [[String: ItemValue]] = [
            ["integer": .text(Self.field)], ["id": .text(Self.itemID), "double": .text(Self.field)],
            ["date": .text(Self.field)], ["text": .int(Int64(Self.number))],
            ["integer": .double(Double(Self.number) + 0.5)],
        ]
        for fields in invalid { do { try await table.insert(fields) } catch { output.record(error) } }
        for error in try await context.operationErrors() { output.record("\(error) \(error.message)") }
        for operation in try await context.pendingOperations() {
            try await context.replay(operationID: operation.id)
        }
        server.respond(nil)
        do { try await context.push() } catch { output.record(error) }
        try await context.pull(Thing.query, queryID: "all")
    }

    private func expectNoCredential(inFilesOf directory: TemporaryDirectory) throws {
        for file in try FileManager.default.contentsOfDirectory(atPath: directory.path) {
            let content = try Data(contentsOf: URL(filePath: directory.file(file)))
            for canary in Self.credentials {
                #expect(content.firstRange(of: Data(canary.utf8)) == nil, "\(file) contains \(canary)")
            }
        }
    }

    @Test func `after a purge a closed SQLite store does not contain the fields of its items`() async throws {
        let directory = try TemporaryDirectory()
        let server = try HostileServer()
        let context = SyncContext(
            client: SyncClient(url: HostileServer.url, transport: server),
            dataSource: try StoreKind.sqlite.open(at: directory.file()), environment: .instant)
        for number in 0..<300 {
            try await context.table(Thing.name).insert([
                "text": .text("\(Self.field) \(number)"),
                "json": [.text(String(repeating: Self.field, count: number * 10))],
            ])
        }
        try await context.purgeAll(pending: .discard)
        try await context.close()
        let content = try Data(contentsOf: URL(filePath: directory.file()))
        #expect(content.firstRange(of: Data(Self.field.utf8)) == nil)
    }
}
