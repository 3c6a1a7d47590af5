// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPTransport
import HTTPTypes
import SyncCore
import TableServer

/// Pushes to a server on this machine.
enum Pushes {
    static func push(_ scale: Scale, inFlight: Int) -> Benchmark {
        let count = scale.of(10_000)
        let todos = (0..<count).map { TodoRow(ordered: $0) }
        let requests = Shared {
            let recorder = RecordingTransport()
            try await push(todos, from: .memory, at: "", inFlight: 1, transport: recorder) { try await $0() }
            return recorder.requests
        }
        return Benchmark(
            name: "push.\(inFlight)", title: "Push \(count) inserts over loopback, \(inFlight) in flight",
            count: count, unit: "operation",
            contenders: StoreKind.allCases.flatMap { kind in
                HTTPClientKind.allCases.map { client in
                    Contender(kind.rawValue + client.suffix) { trial in
                        try await push(
                            todos, from: kind, at: trial.path("store"), inFlight: inFlight,
                            transport: client.makeTransport()
                        ) { push in try await trial.measure(push) }
                    }
                }
            } + [
                bare("bare HTTP", requests, inFlight: inFlight) { BareClient() },
                bare("bare AsyncHTTP", requests, inFlight: inFlight) { AsyncHTTPTransport() },
            ],
            lines: StoreKind.allCases.flatMap { kind in
                [
                    ReportLine(kind.rawValue, floor: "bare HTTP", goals: [.ofFloor(0.9)]),
                    ReportLine(
                        kind.rawValue + HTTPClientKind.asyncHTTP.suffix, floor: "bare HTTP",
                        goals: [.ofFloor(0.9)]),
                    ReportLine(kind.rawValue + HTTPClientKind.asyncHTTP.suffix, floor: "bare AsyncHTTP"),
                ]
            }, maxRounds: 2)
    }

    /// Pushes to a server in memory, which measures only the engine and the store.
    static func pushInMemory(_ scale: Scale) -> Benchmark {
        let count = scale.of(10_000)
        let todos = (0..<count).map { TodoRow(ordered: $0) }
        let responses = todos.enumerated().map { ServerRow($1, number: $0).value.json }
        return Benchmark(
            name: "push.engine", title: "Push \(count) inserts to a server in memory", count: count,
            unit: "operation",
            contenders: StoreKind.allCases.map { kind in
                Contender(kind.rawValue) { trial in
                    let server = CannedPages(responses, status: .created)
                    let context = try kind.context(trial, transport: server)
                    try await context.context.batch { local in
                        for todo in todos { try local.insert(todo.insertedFields, in: TodoRow.table) }
                    }
                    let result = try await trial.measure { try await context.context.push() }
                    guard result.completed == count, server.requestCount == count else {
                        throw WrongResult("\(result), \(server.requestCount) requests")
                    }
                    return try await context.checkAndClose()
                }
            }, lines: StoreKind.allCases.map { ReportLine($0.rawValue) }, maxRounds: 3)
    }

    /// Sends the requests of a push with an HTTP client, without the framework.
    private static func bare(
        _ name: String, _ requests: Shared<[HTTPTransportRequest]>, inFlight: Int,
        makeTransport: @escaping @Sendable () -> any HTTPTransport
    ) -> Contender {
        Contender(name) { trial in
            let (transport, requests) = (makeTransport(), try await requests.value())
            let server = try await TableServer.startForBenchmark()
            let bytes = try await trial.measure {
                try await transport.send(requests, to: server.url, inFlight: inFlight)
            }
            let rows = try server.rows(in: TodoRow.table).count
            await server.stop()
            guard bytes > 200 * requests.count else {
                throw WrongResult("Only \(bytes) bytes were received.")
            }
            return rows
        }
    }

    /// Queues the inserts, pushes them to a new server, and returns the number of rows on the server.
    @discardableResult
    private static func push(
        _ todos: [TodoRow], from kind: StoreKind, at path: String, inFlight: Int,
        transport: any HTTPTransport, measure: (() async throws -> Void) async throws -> Void
    ) async throws -> Int {
        let server = try await TableServer.startForBenchmark()
        var settings = SyncSettings()
        settings.maxConcurrentOperations = inFlight
        let context = SyncContext(
            client: SyncClient(url: server.url, transport: transport), dataSource: try kind.open(at: path),
            settings: settings)
        try await context.batch { local in
            for todo in todos { try local.insert(todo.insertedFields, in: TodoRow.table) }
        }
        try await measure {
            let result = try await context.push()
            guard result.completed == todos.count else { throw WrongResult("\(result)") }
        }
        guard try await context.pendingOperationCount() == 0 else { throw WrongResult("Operations remain.") }
        try await context.close()
        let rows = try server.rows(in: TodoRow.table).count
        await server.stop()
        return rows
    }
}
