// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import SyncCore
import TableServer

/// Pulls over HTTP from a server on this machine.
enum LoopbackPulls {
    static func firstPull(_ scale: Scale, _ directory: SharedDirectory) -> Benchmark {
        let count = scale.of(100_000)
        let server = Shared {
            let server = try await TableServer.startForBenchmark()
            try await server.fill(count: count)
            return server
        }
        let requests = Shared {
            let recorder = RecordingTransport()
            let context = SyncContext(
                client: SyncClient(url: try await server.value().url, transport: recorder),
                dataSource: try StoreKind.memory.open(at: ""))
            try await context.pull(TableQuery(TodoRow.table), queryID: "all", settings: .pages(of: 1000))
            return recorder.requests
        }
        let floors = Floors.pulls((0..<count).map { TodoRow($0) }, pageSize: 1000)
        return Benchmark(
            name: "pull.loopback", title: "Pull \(count) new rows over loopback, 1000 per page",
            count: count,
            unit: "row",
            contenders: StoreKind.allCases.flatMap { kind in
                HTTPClientKind.allCases.map { client in
                    Contender(kind.rawValue + client.suffix) { trial in
                        let store = try kind.open(at: trial.path("store"))
                        let transport = client.makeTransport()
                        let context = SyncContext(
                            client: SyncClient(url: try await server.value().url, transport: transport),
                            dataSource: store)
                        let result = try await trial.measure {
                            try await context.pull(
                                TableQuery(TodoRow.table), queryID: "all", settings: .pages(of: 1000))
                        }
                        guard result.upserted == count else { throw WrongResult("\(result)") }
                        let checksum = try store.checksum()
                        try await context.close()
                        return checksum
                    }
                }
            } + floors + [
                Contender("bare HTTP") { trial in
                    let (url, requests) = (try await server.value().url, try await requests.value())
                    let client = BareClient()
                    let bytes = try await trial.measure {
                        try await client.send(requests, to: url, inFlight: 1)
                    }
                    guard bytes > 200 * count else { throw WrongResult("Only \(bytes) bytes were received.") }
                    return (0..<count).lazy.map { TodoRow($0) }.checksum
                },
                Contender("peer") { trial in
                    let peer = try PeerDatabase(path: trial.path("peer"))
                    let (url, requests) = (try await server.value().url, try await requests.value())
                    let pages = ReplayingTransport(requests, to: url)
                    try await trial.measure { try await peer.pull(from: pages, url: url) }
                    return try peer.checksum()
                },
            ],
            lines: StoreKind.allCases.flatMap { kind in
                HTTPClientKind.allCases.map { client in
                    ReportLine(
                        kind.rawValue + client.suffix, peer: "peer",
                        goals: [.ofSlowest(0.8, of: ["bare HTTP", kind.floorName])])
                }
            }, maxRounds: 2, tearDown: { try await server.value().stop() })
    }
}

/// Sends the next recorded request instead of the given one, and returns an empty list after the last.
private actor ReplayingTransport: HTTPTransport {
    private let requests: [HTTPTransportRequest]
    private let transport = URLSessionTransport()
    private var sent = 0

    init(_ requests: [HTTPTransportRequest], to url: URL) { self.requests = requests }

    func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        guard sent < requests.count else { return HTTPTransportResponse(status: 200, body: Data("[]".utf8)) }
        sent += 1
        return try await transport.send(requests[sent - 1])
    }
}
