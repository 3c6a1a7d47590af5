// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import FileStore
import StoreConformance
import SyncCore
import Testing

struct FileStoreHarness: StoreHarness {
    func open(at path: String, tables: [SyncTableDefinition]) throws -> any SyncContextDataSource {
        try FileStore(path: path, tables: tables)
    }
}

struct FileStoreTests {
    @Test(arguments: StoreRule.all) func conforms(to rule: StoreRule) async throws {
        try await rule.check(FileStoreHarness())
    }
}
