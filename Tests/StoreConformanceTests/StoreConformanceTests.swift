// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreConformance
import Testing

struct MemoryConformanceTests {
    @Test(arguments: StoreRule.all) func conforms(to rule: StoreRule) async throws {
        try await rule.check(MemoryHarness())
    }
}

struct SQLiteConformanceTests {
    @Test(arguments: StoreRule.all) func conforms(to rule: StoreRule) async throws {
        try await rule.check(SQLiteHarness())
    }
}

struct SharedSQLiteConformanceTests {
    @Test(arguments: StoreRule.all) func conforms(to rule: StoreRule) async throws {
        try await rule.check(SharedSQLiteHarness())
    }
}

struct LMDBConformanceTests {
    @Test(arguments: StoreRule.all) func conforms(to rule: StoreRule) async throws {
        try await rule.check(LMDBHarness())
    }
}
