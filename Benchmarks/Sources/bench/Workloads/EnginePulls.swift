// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

/// Pulls from a server in memory, which measure only the engine and the store.
enum EnginePulls {
    static func firstPull(_ scale: Scale, pageSize: Int) -> Benchmark {
        let count = scale.of(100_000)
        let todos = (0..<count).map { TodoRow($0) }
        let pages = CannedPages.pages(of: todos, size: pageSize)
        return Benchmark(
            name: "pull.engine.page-\(pageSize)",
            title: "Pull \(count) new rows from memory, \(pageSize) per page",
            count: count, unit: "row",
            contenders: StoreKind.allCases.map { kind in
                Contender(kind.rawValue) { trial in
                    let server = CannedPages(pages)
                    let context = try kind.context(trial, transport: server)
                    let result = try await trial.measure {
                        try await context.pull(
                            TableQuery(TodoRow.table), queryID: "all", settings: .pages(of: pageSize))
                    }
                    guard result.upserted == count, server.requestCount == pages.count + 1 else {
                        throw WrongResult("\(result), \(server.requestCount) requests")
                    }
                    return try await context.checkAndClose()
                }
            } + Floors.pulls(todos, pageSize: pageSize) + [
                Contender("peer") { trial in
                    let peer = try PeerDatabase(path: trial.path("peer"))
                    let server = CannedPages(pages)
                    try await trial.measure { try await peer.pull(from: server, url: CannedPages.url) }
                    return try peer.checksum()
                }
            ],
            lines: StoreKind.allCases.map { kind in
                ReportLine(
                    kind.rawValue, floor: kind.floorName, peer: "peer",
                    goals: pageSize == 1000 ? [.ofFloor(0.8), .ofPeer(2)] : [])
            }, maxRounds: pageSize < 1000 ? 3 : 4)
    }
}
