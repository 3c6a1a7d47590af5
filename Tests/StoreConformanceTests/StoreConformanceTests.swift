// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreConformance
import Testing

@Suite(.serialized) struct MemoryConformanceTests {
    @Test(arguments: StoreRule.all) func conforms(to rule: StoreRule) async throws {
        try await rule.check(MemoryHarness())
    }
}

@Suite(.serialized) struct SQLiteConformanceTests {
    @Test(arguments: StoreRule.all) func conforms(to rule: StoreRule) async throws {
        try await rule.check(SQLiteHarness())
    }
}

@Suite(.serialized) struct SharedSQLiteConformanceTests {
    @Test(arguments: StoreRule.all) func conforms(to rule: StoreRule) async throws {
        try await rule.check(SharedSQLiteHarness())
    }
}

@Suite(.serialized) struct LMDBConformanceTests {
    @Test(arguments: StoreRule.all) func conforms(to rule: StoreRule) async throws {
        try await rule.check(LMDBHarness())
    }
}
