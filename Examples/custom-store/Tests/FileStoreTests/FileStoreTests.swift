// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import FileStore
import Foundation
import StoreConformance
import SyncCore
import Testing

struct FileStoreHarness: StoreHarness {
    func open(at path: String, tables: [SyncTableDefinition]) throws -> any SyncContextDataSource {
        try FileStore(path: path, tables: tables)
    }

    /// The program is built beside the tests.
    var child: ChildProgram? {
        let tests = Bundle.allBundles.first { $0.bundleURL.pathExtension == "xctest" }
        let directory = tests?.bundleURL.deletingLastPathComponent() ?? Bundle.main.bundleURL
        let program = directory.appending(path: "file-store-conformance").path
        return ChildProgram(executable: program, arguments: ["child", "file"])
    }
}

struct FileStoreTests {
    @Test(arguments: StoreRule.all) func conforms(to rule: StoreRule) async throws {
        try await rule.check(FileStoreHarness())
    }
}
