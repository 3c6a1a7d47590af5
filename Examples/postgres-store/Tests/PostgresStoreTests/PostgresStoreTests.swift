// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import PostgresHarness
import StoreConformance
import SyncCore
import Testing

@Suite(.serialized) struct PostgresStoreTests {
    /// The program beside the tests.
    private static let program = Bundle.main.bundleURL.appending(path: "postgres-store-conformance").path

    @Test(arguments: StoreRule.all) func conforms(to rule: StoreRule) async throws {
        let outcome = try await rule.check(PostgresHarness(childExecutable: Self.program))
        if case .skipped(let reason) = outcome { Issue.record("The rule was not checked: \(reason)") }
    }
}
