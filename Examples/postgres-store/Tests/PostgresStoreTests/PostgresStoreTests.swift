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

    @Test func `a read does not wait for other writes when a write has waited for the lost commit`() throws {
        let (harness, path) = (PostgresHarness(), "lost-commit")
        let tables = [SyncTableDefinition("Todo", columns: [SyncColumn("text", .text)])]
        let faults = try #require(harness.connectionFaults)
        let store = try harness.open(at: path, tables: tables)
        defer { harness.removeStore(at: path) }
        let other = try harness.open(at: path, tables: tables)
        try faults.failNextCommit(.lostResponse)
        let error = #expect(throws: StoreError.self) {
            try store.write { try $0.upsert([Item(id: "a")], in: "Todo") }
        }
        #expect(error?.code == .outcomeUnknown)
        try store.write { try $0.upsert([Item(id: "b")], in: "Todo") }

        let hasRead = DispatchSemaphore(value: 0)
        let reader = Thread {
            _ = try? store.read { try $0.item(id: "b", in: "Todo") }
            hasRead.signal()
        }
        let result = try other.write { _ in
            reader.start()
            return hasRead.wait(timeout: .now() + .seconds(10))
        }
        #expect(result == .success)
        try store.close()
        try other.close()
    }
}
