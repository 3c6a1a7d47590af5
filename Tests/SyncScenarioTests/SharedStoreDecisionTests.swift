// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreSQLite
import SyncCore
import TableServer
import Testing

/// Decisions in two processes with one file.
@Suite struct SharedStoreDecisionTests {
    @Test func `the error of an operation shows the deletion that another process has queued behind it`()
        async throws
    {
        try await Scenario.run(on: .sqlite) { scenario in
            let path = scenario.directory.appendingPathComponent("shared.sqlite").path
            func device(_ name: String) throws -> Device {
                scenario.device(
                    on: try SQLiteStore(path: path, tables: [Todo.definition], sharing: .shared), name: name,
                    settings: .singleAttempt)
            }
            let (first, second) = (try device("A"), try device("B"))
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await first.sync()
            try await first.table.update(id: "x", ["text": "ours"])
            try await scenario.server.update("x", ["text": "theirs"], in: Todo.name)
            // The operation may have been applied, so that it keeps its place before a change of the other process.
            scenario.server.inject(.dropAnswer)
            await expectError(.pushAbortedNetwork) { try await first.context.push() }
            #expect(try await first.expectPushError().kind == .update)
            try await second.table.delete(id: "x")
            let error = try await first.expectPushError()
            #expect(error.kind == .delete)
            #expect(error.item?["text"] == "ours")
            try await first.context.changeKind(for: error, to: .delete)
            try await first.context.push()
            #expect(try scenario.row("x")?.deleted == true)
            try await first.context.close()
            try await second.context.close()
        }
    }
}
