// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import CFileFaults
import Foundation
import SyncCore

/// The calls of a child process, one API path a name. Each line that it prints names a call that has returned.
struct SyncScript {
    let kind: String
    let path: String
    let server: URL?

    func run(_ name: String) async throws {
        var tables = SyncChild.tables
        if name == "migrate" {
            tables[0] = SyncTableDefinition(
                "Thing", columns: tables[0].columns + [SyncColumn("added", .date, isIndexed: true)])
            tables.append(SyncTableDefinition("Added", columns: [SyncColumn("text", .text)]))
        }
        let store = try SyncChild.open(kind, path, tables: tables)
        acknowledge("opened")
        let client = SyncClient(url: server ?? URL(filePath: "/"), installationID: "child")
        let context = SyncContext(client: client, dataSource: store)
        try await run(name, context)
        try await context.close()
        acknowledge("closed")
    }

    private func acknowledge(_ line: String) {
        SyncChild.acknowledge(line)
        file_faults_mark(0)
    }

    private func run(_ name: String, _ context: SyncContext) async throws {
        let table = context.table("Thing")
        switch name {
        case "insert":
            for number in 0..<4 { try await insert(number, into: table) }
        case "write":
            for number in 0..<300 { try await insert(number, into: table) }
        case "update":
            try await table.update(id: "synced", ["text": "edited", "integer": 1])
            acknowledge("synced edited")
            try await table.update(id: "synced", ["text": "edited"])
        case "delete":
            try await table.delete(id: "synced")
            acknowledge("synced deleted")
        case "batch":
            try await context.batch { batch in
                for number in 0..<3 {
                    _ = try batch.insert(
                        ["id": .text("new-\(number)"), "text": .text("\(number)")], in: "Thing")
                }
                try batch.delete(id: "synced", in: "Thing")
            }
            acknowledge("batch")
        case "push":
            try await context.push()
            acknowledge("pushed")
        case "pull":
            var settings = PullSettings()
            (settings.pageSize, settings.pending) = (2, .pullAnyway)
            for try await _ in context.pulling(TableQuery("Thing"), queryID: "all", settings: settings) {}
            acknowledge("pulled")
        case "conflict":
            do {
                try await context.push()
            } catch let error as SyncError {
                for error in error.pushResult?.errors ?? [] {
                    try await context.cancelAndDiscardItem(for: error)
                    acknowledge("discarded")
                }
            }
        case "purge":
            try await context.purge(TableQuery("Thing"), pending: .discard)
            acknowledge("purged")
        case "purgeAll":
            try await context.purgeAll(pending: .discard)
            acknowledge("purged")
        default: break
        }
    }

    private func insert(_ number: Int, into table: SyncTable) async throws {
        try await table.insert(["id": .text("new-\(number)"), "text": .text("\(number)")])
        SyncChild.acknowledge("new-\(number)")
        file_faults_mark(Int64(number) + 1)
    }
}
