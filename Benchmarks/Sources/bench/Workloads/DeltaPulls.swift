// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import Synchronization

/// Incremental pulls after a first pull.
enum DeltaPulls {
    static func pull(_ scale: Scale, _ directory: SharedDirectory, changes: Int) -> Benchmark {
        let total = scale.of(100_000)
        let pages = CannedPages.pages(of: (0..<total).map { TodoRow($0) }, size: 1000)
        return Benchmark(
            name: "pull.delta.\(changes)",
            title: "Pull \(changes) changes of \(total) rows",
            count: max(changes, 1), unit: changes == 0 ? "pull" : "row",
            contenders: StoreKind.allCases.map { kind in
                let server = SwitchedPages(pages)
                let shared = Shared {
                    let store = CountingStore(try kind.open(at: directory.path("store")))
                    let context = SyncContext(store, transport: server)
                    try await context.pull(
                        TableQuery(TodoRow.table), queryID: "all", settings: .pages(of: 1000))
                    return (context: context, store: store)
                }
                return Contender(kind.rawValue) { trial in
                    let (context, store) = try await shared.value()
                    let changed = (0..<changes).map { TodoRow($0 * 97 % total, generation: trial.round + 1) }
                    let first = total + trial.round * changes
                    server.serve(CannedPages.pages(of: changed, size: 1000, startingAt: first))
                    let writes = store.writeCount
                    let result = try await trial.measure {
                        try await context.pull(
                            TableQuery(TodoRow.table), queryID: "all", settings: .pages(of: 1000))
                    }
                    // The empty last page is one more request, and completes the token.
                    let pages = (changes + 999) / 1000
                    guard result.upserted == changes, server.requestCount == pages + 1,
                        store.writeCount - writes == (pages == 0 ? 0 : pages + 1)
                    else {
                        throw WrongResult(
                            "\(result), \(server.requestCount) requests, \(store.writeCount - writes) writes")
                    }
                    return result.received
                }
            },
            lines: StoreKind.allCases.map { ReportLine($0.rawValue) })
    }
}

extension PullSettings {
    static func pages(of size: Int) -> PullSettings {
        var settings = PullSettings()
        settings.pageSize = size
        return settings
    }
}

/// A server in memory whose pages can be replaced.
final class SwitchedPages: HTTPTransport {
    private let pages: Mutex<CannedPages>

    init(_ pages: [Data]) { self.pages = Mutex(CannedPages(pages)) }

    func serve(_ pages: [Data]) { self.pages.withLock { $0 = CannedPages(pages) } }

    var requestCount: Int { pages.withLock { $0 }.requestCount }

    func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        try await pages.withLock { $0 }.send(request)
    }
}

/// A store that counts its writes.
final class CountingStore: SyncContextDataSource {
    private let base: any SyncContextDataSource
    private let writes = Mutex(0)

    init(_ base: any SyncContextDataSource) { self.base = base }

    var writeCount: Int { writes.withLock { $0 } }
    var catalog: TableCatalog { base.catalog }
    var capabilities: StoreCapabilities { base.capabilities }

    func read<T>(_ body: (any StoreSnapshot) throws -> T) throws -> T { try base.read(body) }

    func write<T>(_ body: (any StoreTransaction) throws -> T) throws -> T {
        writes.withLock { $0 += 1 }
        return try base.write(body)
    }

    func close() throws { try base.close() }
}
