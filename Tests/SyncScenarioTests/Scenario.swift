// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreSQLite
import SyncCore
import TableServer
import TestSupport
import Testing

/// A server, and a directory for the stores of any number of devices.
struct Scenario {
    let server: TableServer
    let kind: StoreKind
    let directory: URL

    /// Runs the body with a new server and an empty directory.
    static func run(
        on kind: StoreKind, configure: (inout TableServer.Configuration) -> Void = { _ in },
        _ body: (Scenario) async throws -> Void
    ) async throws {
        var configuration = TableServer.Configuration(tables: [
            .init(Todo.name), .init("Other", softDelete: false),
        ])
        configure(&configuration)
        try await kind.withStorage { storage in
            configuration.storage = storage
            try await withTemporaryDirectory { directory in
                try await withTableServer(configuration) { server in
                    try await body(Scenario(server: server, kind: kind, directory: directory))
                }
            }
        }
    }

    /// Runs the body with a server that has rows `row-0`, `row-1`… and a manual clock, and with a device.
    ///
    /// - Parameters:
    ///   - interval: The time between the `updatedAt` of two rows.
    ///   - delay: The time between the last row and the start of the body. After more than a second, a pull does not
    ///     read the timestamp of the last row again.
    static func run(
        on kind: StoreKind, rows count: Int, interval: Duration = .milliseconds(1),
        delay: Duration = .seconds(10),
        configure: (inout TableServer.Configuration) -> Void = { _ in },
        _ body: (Scenario, Device) async throws -> Void
    ) async throws {
        try await run(
            on: kind,
            configure: {
                $0.clock = .standing(at: .unixEpoch)
                configure(&$0)
            },
            { scenario in
                try await scenario.putRows(count, interval: interval)
                scenario.server.clock.advance(by: delay)
                try await body(scenario, try scenario.device())
            })
    }

    /// Puts rows `row-0`, `row-1`… on the server, and advances its clock by the interval before each.
    func putRows(_ count: Int, interval: Duration = .zero) async throws {
        let rows = (0..<count).map { (id: "row-\($0)", fields: ["text": ItemValue.text("\($0)")]) }
        guard interval > .zero else {
            try await server.put(rows, in: Todo.name)
            return
        }
        for row in rows {
            server.clock.advance(by: interval)
            try await server.put(row.id, row.fields, in: Todo.name)
        }
    }

    /// Opens a file that several stores share, as several processes do.
    func sharedStore(tables: [SyncTableDefinition] = [Todo.definition]) throws -> SQLiteStore {
        let path = directory.appendingPathComponent("shared.sqlite").path
        return try SQLiteStore(path: path, tables: tables, sharing: .shared)
    }

    /// Returns a device; the same name opens the same persistent store again.
    func device(
        _ name: String = "A", delegate: (any SyncContextDelegate)? = nil,
        settings: SyncSettings = SyncSettings(), tables: [SyncTableDefinition] = [Todo.definition],
        transport: any HTTPTransport = .patient,
        environment change: (inout SyncEnvironment) -> Void = { _ in },
        refreshAuthentication: (@Sendable () async throws -> String?)? = nil
    ) throws -> Device {
        device(
            on: try kind.open(in: directory, name: name, tables: tables), name: name, delegate: delegate,
            settings: settings, transport: transport, environment: change,
            refreshAuthentication: refreshAuthentication)
    }

    /// Returns a device with an open store.
    func device(
        on store: any SyncContextDataSource, name: String = "A", delegate: (any SyncContextDelegate)? = nil,
        settings: SyncSettings = SyncSettings(), transport: any HTTPTransport = .patient,
        dialect: WireDialect = .v2, environment change: (inout SyncEnvironment) -> Void = { _ in },
        refreshAuthentication: (@Sendable () async throws -> String?)? = nil
    ) -> Device {
        let client = SyncClient(
            url: server.url, transport: transport, dialect: dialect,
            applicationKey: dialect.name == "v1" ? "key" : nil, installationID: name,
            refreshAuthentication: refreshAuthentication)
        var environment = SyncEnvironment.instant(
            seed: UInt64(name.utf8.reduce(7) { $0 &* 31 &+ Int($1) }))
        change(&environment)
        let context = SyncContext(
            client: client, dataSource: store, delegate: delegate, settings: settings,
            environment: environment)
        return Device(context: context, store: store)
    }

    /// Returns a device that uses the dialect whose updates replace the whole row.
    func wholeRowDevice(
        _ name: String = "A", tables: [SyncTableDefinition] = [Todo.definition]
    ) throws -> Device {
        device(
            on: try kind.open(in: directory, name: name, tables: tables), name: name, dialect: .v3)
    }

    /// Returns the texts of the server's rows that are not deleted, sorted.
    func serverTexts() throws -> [String] {
        try server.rows(in: Todo.name).filter { !$0.deleted }
            .compactMap { $0.fields["text"]?.textValue }.sorted()
    }

    func row(_ id: String) throws -> TableRow? { try server.row(id, in: Todo.name) }

    /// Makes the server fail for requests that contain "poison".
    func failPoisonedRequests() {
        server.onRequest { request in
            let text = String(decoding: request.body, as: UTF8.self) + request.path
            return text.contains("poison") ? .refusal(500) : .none
        }
    }

    /// Returns the requests other than GET that reached the server, in order.
    func writes() -> [RecordedRequest] { server.requests.filter(\.isWrite) }

    /// Pushes, and runs the body after the first write reached the server and before it is applied.
    func push(
        _ device: Device, budget: PushBudget = PushBudget(), then fault: ServerFault = .none,
        while body: (Task<PushResult, any Error>) async throws -> Void = { _ in }
    ) async throws -> Result<PushResult, any Error> {
        let gate = RequestGate()
        defer { gate.open() }
        server.inject(.hold(gate, then: fault), when: \.isWrite)
        let context = device.context
        let push = Task { try await context.push(budget: budget) }
        await gate.waitForArrivals()
        try await body(push)
        gate.open()
        return await push.result
    }

    /// Returns the conflict of an edit with another client's edit of the same field: both were made after an update whose
    /// response was lost.
    func clashAfterLostResponse(_ a: Device, sending text: ItemValue) async throws -> TableOperationError {
        try await server.put("x", ["text": "one"], in: Todo.name)
        try await a.sync()
        try await a.table.update(id: "x", ["text": text])
        await a.pushLosingResponse(of: server)
        try await a.table.update(id: "x", ["priority": 1])
        try await server.update("x", ["priority": 2], in: Todo.name)
        let error = try await a.expectPushError()
        #expect(error.isConflict)
        return error
    }
}

extension RecordedRequest {
    var isWrite: Bool { method != "GET" }
    /// Whether a pull requests a page of rows.
    var isPage: Bool { method == "GET" && itemID == nil }
}

extension ServerFault {
    /// Refuses the request with a JSON error.
    static func refusal(_ status: Int, _ reason: String = "no") -> ServerFault {
        .answer(
            status: status, headers: ["Content-Type": "application/json"],
            body: Data(#"{"error":"\#(reason)"}"#.utf8))
    }

    /// Changes the fields of every row in the response.
    static func editFields(_ edit: @escaping @Sendable (inout [String: ItemValue]) -> Void) -> ServerFault {
        .editRows { rows in
            rows.map { row in
                guard case .object(var fields) = row else { return row }
                edit(&fields)
                return .object(fields)
            }
        }
    }

    /// Refuses the request with a web page, as a proxy does.
    static func webPage(_ status: Int) -> ServerFault {
        .answer(
            status: status, headers: ["Content-Type": "text/html"],
            body: Data("<html><h1>Refused</h1></html>".utf8))
    }

    /// Applies the request and responds with a JSON error.
    static func refusalAfterCommit(_ status: Int) -> ServerFault {
        .applyThenAnswer(
            status: status, headers: ["Content-Type": "application/json"],
            body: Data(#"{"error":"too late"}"#.utf8))
    }
}
