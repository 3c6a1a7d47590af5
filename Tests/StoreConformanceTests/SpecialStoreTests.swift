// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreConformance
import Testing

/// A rule about a special store that the harness does not provide does not apply, so it would pass by mistake.
struct SpecialStoreTests {
    @Test(arguments: ["error.full", "app.refused-item", "app.external-commit", "open.newer-format"])
    func `the rules about special stores are checked on SQLite, and do not apply to the memory store`(
        id: String
    ) async throws {
        let rule = try #require(StoreRule.named(id))
        try await expectChecked(rule, on: SQLiteHarness())
        guard case .notApplicable = try await rule.check(MemoryHarness()) else {
            Issue.record("\(id) applies to the memory store.")
            return
        }
    }

    @Test(arguments: ["error.full", "open.newer-format"])
    func `the rules about special stores are checked on LMDB`(id: String) async throws {
        try await expectChecked(try #require(StoreRule.named(id)), on: LMDBHarness())
    }

    private func expectChecked(_ rule: StoreRule, on harness: some StoreHarness) async throws {
        guard case .passed = try await rule.check(harness) else {
            Issue.record("\(rule.id) was not checked.")
            return
        }
    }
}
