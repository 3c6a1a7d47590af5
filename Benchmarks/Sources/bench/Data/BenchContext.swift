// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

extension SyncContext {
    /// A context whose server, if it has one, is in memory.
    convenience init(_ dataSource: any SyncContextDataSource, transport: any HTTPTransport = NoTransport()) {
        self.init(client: SyncClient(url: CannedPages.url, transport: transport), dataSource: dataSource)
    }
}

/// A context with the store beneath it, which a context does not show.
struct BenchContext: Sendable {
    let context: SyncContext
    let dataSource: any SyncContextDataSource

    func table(_ name: String) -> SyncTable { context.table(name) }

    func pull(_ query: TableQuery, queryID: String?, settings: PullSettings) async throws -> PullResult {
        try await context.pull(query, queryID: queryID, settings: settings)
    }

    /// The checksum of the store, which is closed then.
    func checkAndClose() async throws -> Int {
        let checksum = try dataSource.checksum()
        try await context.close()
        return checksum
    }
}
