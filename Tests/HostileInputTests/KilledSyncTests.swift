// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import CFileFaults
import Foundation
import SyncCore
import TestSupport
import Testing

@testable import TableServer

/// A process is killed at every write, sync and truncation of a file in each API path; half of the last write is in the
/// file. A new process loses nothing, doubles nothing, and syncs.
@Suite(.enabled(if: file_faults_supported()), .serialized) struct KilledSyncTests {
    static let paths = [
        "migrate", "insert", "update", "delete", "batch", "push", "pull", "conflict", "purge", "purgeAll",
    ]

    @Test(arguments: StoreKind.persistent, paths)
    func `a process killed at any write of a file loses and doubles no change`(
        _ kind: StoreKind, path: String
    )
        async throws
    {
        var number = 1
        while try await withTemporaryDirectory({ directory in
            try await run(kind, path, killingAt: number, in: directory.resolvingSymlinksInPath())
        }) {
            number += Thoroughness.isFull ? 1 : 9
        }
        // The rows of LMDB have the names of their columns, so a new column changes no file.
        let writes = (kind, path) != (.lmdb, "migrate")
        #expect(number > 1 || !writes, "The process was never killed.")
    }

    /// Runs a process with a prepared store and server.
    ///
    /// - Returns: whether the process was killed, and not finished before.
    private func run(_ kind: StoreKind, _ path: String, killingAt number: Int, in directory: URL)
        async throws -> Bool
    {
        let configuration = TableServer.Configuration(tables: [.init("Thing"), .init("Added")])
        return try await withTableServer(configuration) { server in
            let file = directory.appending(path: "store").path
            try await prepare(kind, file, server, hasConflict: path == "conflict")
            let child = try await ChildProcess.run([
                path, kind.rawValue, file, server.url.absoluteString, "kill", "\(number)",
            ])
            guard child.end == .signal(9) else {
                #expect(child.end == .exited(0) && child.lines.last == "closed")
                return false
            }
            let comment: Comment = "\(path), killed at write \(number) after \(child.lines)"
            try await check(kind, file, server, path: path, Set(child.lines), comment)
            return true
        }
    }

    /// Prepares a store with the row `synced` and a pending update, delete and insert, and a server with later rows.
    private func prepare(
        _ kind: StoreKind, _ file: String, _ server: TableServer, hasConflict: Bool
    ) async throws {
        for id in ["synced", "updated", "deleted"] { try await server.put(id, ["text": "old"], in: "Thing") }
        let context = try context(kind, file, server)
        try await context.pull(TableQuery("Thing"), queryID: "all")
        let table = context.table("Thing")
        try await table.update(id: "updated", ["text": "edited"])
        try await table.delete(id: "deleted")
        try await table.insert(["id": "inserted", "text": "mine"])
        try await context.close()
        for number in 0..<5 {
            try await server.put("later-\(number)", ["text": .text("\(number)")], in: "Thing")
        }
        if hasConflict { try await server.update("updated", ["text": "theirs"], in: "Thing") }
    }

    private func context(_ kind: StoreKind, _ file: String, _ server: TableServer) throws -> SyncContext {
        let tables = [
            SyncTableDefinition(
                "Thing",
                columns: [
                    SyncColumn("text", .text, isIndexed: true), SyncColumn("integer", .integer),
                    SyncColumn("added", .date, isIndexed: true),
                ]), SyncTableDefinition("Added", columns: [SyncColumn("text", .text)]),
        ]
        return SyncContext(
            client: SyncClient(url: server.url, transport: .patient, installationID: "parent"),
            dataSource: try kind.open(at: file, tables: tables), environment: .instant)
    }

    private func check(
        _ kind: StoreKind, _ file: String, _ server: TableServer, path: String, _ lines: Set<String>,
        _ comment: Comment
    ) async throws {
        let context = try context(kind, file, server)
        let table = context.table("Thing")
        let items = Dictionary(uniqueKeysWithValues: try await table.items().map { ($0.id, $0) })
        let pending = Set(try await context.pendingOperations().map(\.itemID))

        // A call that returned is durable, and an item and its operation are stored together.
        for line in lines where line.hasPrefix("new-") { #expect(items[line] != nil, comment) }
        if lines.contains("synced edited") { #expect(items["synced"]?["text"] == "edited", comment) }
        if lines.contains("synced deleted") { #expect(items["synced"] == nil, comment) }
        if lines.contains("pushed") { #expect(pending.isEmpty, comment) }
        if lines.contains("purged") { #expect(items.isEmpty && pending.isEmpty, comment) }
        if lines.contains("pulled") { #expect(items["later-4"] != nil, comment) }
        let new = items.keys.filter { $0.hasPrefix("new-") }
        #expect(pending.isSuperset(of: new), comment)
        if path == "batch" {
            #expect([0, 3].contains(new.count) && (items["synced"] == nil) == (new.count == 3), comment)
        }
        let isPurged = path.hasPrefix("purge") && pending.isEmpty
        if path.hasPrefix("purge") { #expect(items.isEmpty == isPurged, comment) }
        if path == "update" {
            #expect((items["synced"]?["text"] == "edited") == pending.contains("synced"), comment)
        }

        // The next process syncs, and every change takes effect once.
        for _ in 0..<2 {
            do { try await context.push() } catch let error as SyncError {
                #expect(path == "conflict", comment)
                for error in error.pushResult?.errors ?? [] {
                    #expect(error.itemID == "updated", comment)
                    try await context.cancelAndDiscardItem(for: error)
                }
            }
        }
        try await context.pull(TableQuery("Thing"), queryID: "all")
        #expect(try await context.pendingOperationCount() == 0, comment)
        #expect(try await context.operationErrors().isEmpty, comment)
        let rows = try server.rows(in: "Thing").filter { !$0.deleted }
        let synced = try await table.items()
        #expect(Set(rows.map(\.id)) == Set(synced.map(\.id)), comment)
        for row in rows {
            let item = synced.first { $0.id == row.id }
            #expect(item?["text"] == row.fields["text"], comment)
            #expect(item?.system.version == row.version, comment)
        }
        if !isPurged {
            let isConflict = path == "conflict"
            try expect(server, "updated", isConflict ? "theirs" : "edited", writes: 2, comment)
            try expect(server, "inserted", "mine", writes: 1, comment)
            #expect(try server.row("deleted", in: "Thing")?.deleted == true, comment)
            #expect(try server.row("deleted", in: "Thing")?.revision == 2, comment)
        }
        for id in new { #expect(try server.row(id, in: "Thing")?.revision == 1, comment) }
        try await context.close()
    }

    private func expect(
        _ server: TableServer, _ id: String, _ text: ItemValue, writes: Int64, _ comment: Comment
    ) throws {
        let row = try server.row(id, in: "Thing")
        #expect(row?.fields["text"] == text, comment)
        #expect(row?.revision == writes, comment)
    }
}
