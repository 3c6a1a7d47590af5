// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreConformance
import Testing

/// Kills five hundred processes on each durable store.
@Suite(.serialized) struct KilledProcessTests {
    private static let stores: [any StoreHarness] = [SQLiteHarness(), SharedSQLiteHarness(), LMDBHarness()]

    @Test(arguments: stores.indices) func `killed processes lose no returned write`(store: Int)
        async throws
    {
        let rule = try #require(StoreRule.named("crash.any-time"))
        let effort = SuiteEffort(modelScripts: 0, modelLength: 0, kills: 500)
        let outcome = try await rule.check(Self.stores[store], effort: effort)
        // Two for each process, their number, and that some have written.
        #expect(outcome == .passed(assertions: 1002))
    }
}
