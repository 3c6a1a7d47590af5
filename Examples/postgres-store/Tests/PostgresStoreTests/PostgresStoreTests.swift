// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import PostgresHarness
import StoreConformance
import SyncCore
import Testing

@Suite(.serialized) struct PostgresStoreTests {
    /// The program beside the tests.
    private static var program: String {
        let tests = Bundle.allBundles.first { $0.bundleURL.pathExtension == "xctest" }
        let directory = tests?.bundleURL.deletingLastPathComponent() ?? Bundle.main.bundleURL
        return directory.appending(path: "postgres-store-conformance").path
    }

    @Test(arguments: StoreRule.all) func conforms(to rule: StoreRule) async throws {
        let outcome = try await rule.check(PostgresHarness(childExecutable: Self.program))
        if case .skipped(let reason) = outcome { Issue.record("The rule was not checked: \(reason)") }
    }
}
