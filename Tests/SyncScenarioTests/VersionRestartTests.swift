// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

/// A row that is deleted for good and inserted again has its first version again: the version alone tells nothing.
@Suite struct VersionRestartTests {
    @Test(arguments: StoreKind.allCases, [TableOperation.Kind.update, .delete])
    func `a change of a hard-deleted row conflicts with the row inserted again`(
        _ kind: StoreKind, _ change: TableOperation.Kind
    ) async throws {
        try await Scenario.run(on: kind, configure: { $0.tables = [.init(Todo.name, softDelete: false)] }) {
            scenario in
            let a = try scenario.device()
            try await scenario.server.put("x", ["text": "old"], in: Todo.name)
            try await a.sync()
            if change == .delete {
                try await a.table.delete(id: "x")
            } else {
                try await a.table.update(id: "x", ["text": "ours"])
            }
            let version = try scenario.row("x")?.version
            try await scenario.server.remove("x", in: Todo.name, leavingTombstone: false)
            scenario.server.clock.advance(by: .seconds(5))
            try await scenario.server.put("x", ["text": "new"], in: Todo.name)
            #expect(try scenario.row("x")?.version == version)
            try await a.pullAnyway()
            let error = try await a.failedPush()
            #expect(error.isConflict)
            #expect(error.serverItem?["text"] == "new")
            #expect(try scenario.row("x")?.fields["text"] == "new")
            // Once it is decided, the change overrules the row that was shown.
            if change == .delete {
                try await a.context.changeKind(for: error, to: .delete)
            } else {
                try await a.context.keepAndUpdateItem(for: error, with: try #require(error.item))
            }
            try await a.context.push()
            #expect(try scenario.row("x")?.fields["text"] == (change == .delete ? nil : "ours"))
            try await scenario.expectAgreement(a)
        }
    }
}
