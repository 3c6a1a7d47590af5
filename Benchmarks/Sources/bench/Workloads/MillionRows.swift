// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import SyncCore
import Synchronization

/// A large pull in a separate process, whose memory is measured.
enum MillionRows {
    static func pull(_ scale: Scale) -> Benchmark {
        let count = scale.of(1_000_000)
        return Benchmark(
            name: "pull.million",
            title: "Pull \(count) new rows from memory, 1000 per page, in a separate process",
            count: count, unit: "row",
            contenders: StoreKind.allCases.map { kind in
                Contender(kind.rawValue) { trial in
                    let output = try await trial.measure {
                        try await ChildProcess.run(["probe", kind.rawValue, "\(count)", trial.path("store")])
                    }
                    let probe = try JSONDecoder().decode(Probe.self, from: output)
                    trial.record(probe.memory)
                    return probe.items
                }
            },
            lines: StoreKind.allCases.map { kind in
                ReportLine(kind.rawValue, goals: kind == .memory ? [] : [.memory(100 << 20)])
            }, maxRounds: 1)
    }

    /// The output of the process.
    struct Probe: Codable {
        let items: Int
        let memory: PeakMemory
    }

    /// Runs the pull in this process.
    static func probe(_ kind: StoreKind, count: Int, path: String) async throws -> Probe {
        let store = try kind.open(at: path)
        let context = SyncContext(store, transport: GeneratedPages(count: count))
        let memory = try await PeakMemory.during {
            let result = try await context.pull(
                TableQuery(TodoRow.table), queryID: "all", settings: .pages(of: 1000))
            guard result.upserted == count else { throw WrongResult("\(result)") }
        }
        let query = TableQuery(TodoRow.table).limit(0).includingTotalCount()
        let items = try store.read { try $0.items(matching: query).totalCount }
        try await context.close()
        return Probe(items: items ?? 0, memory: memory)
    }
}

/// A server in memory that generates each page on request, so that pages use no memory.
private final class GeneratedPages: HTTPTransport {
    private let count: Int
    private let served = Mutex(0)

    init(count: Int) { self.count = count }

    func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        let start = served.withLock { served in
            defer { served += 1000 }
            return served
        }
        let todos = (start..<max(start, min(start + 1000, count))).map { TodoRow($0) }
        let pages = CannedPages.pages(of: todos, size: 1000, startingAt: start)
        return HTTPTransportResponse(status: 200, body: pages.first ?? Data("[]".utf8))
    }
}
