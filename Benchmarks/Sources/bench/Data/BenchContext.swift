// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

extension SyncContext {
    /// Creates a context without a server, or with one in memory.
    convenience init(_ dataSource: any SyncContextDataSource, transport: any HTTPTransport = NoTransport()) {
        self.init(client: SyncClient(url: CannedPages.url, transport: transport), dataSource: dataSource)
    }
}

/// A context with its store, which the context does not expose.
struct BenchContext: Sendable {
    let context: SyncContext
    let dataSource: any SyncContextDataSource

    func table(_ name: String) -> SyncTable { context.table(name) }

    func pull(_ query: TableQuery, queryID: String?, settings: PullSettings) async throws -> PullResult {
        try await context.pull(query, queryID: queryID, settings: settings)
    }

    /// Closes the context and returns the store's checksum.
    func checkAndClose() async throws -> Int {
        let checksum = try dataSource.checksum()
        try await context.close()
        return checksum
    }
}
