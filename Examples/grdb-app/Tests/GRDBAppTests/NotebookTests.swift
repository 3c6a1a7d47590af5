// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import TableServer
import Testing

@testable import GRDBApp

struct NotebookTests {
    @Test func `SQL finds synced notes and drafts in one database`() async throws {
        try await withTableServer(.init(tables: [.init("Note")])) { server in
            let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: directory) }
            let notebook = try Notebook(
                path: directory.appending(path: "notes.sqlite").path(), url: server.url)
            try await server.put("x", ["text": "theirs, synced"], in: "Note")
            try await notebook.add("ours, synced")
            try await notebook.pool.write {
                try $0.execute(sql: "INSERT INTO draft VALUES ('ours, a draft')")
            }
            try await notebook.sync()
            #expect(try await notebook.search("ours") == ["ours, a draft", "ours, synced"])
            #expect(try await notebook.search("synced") == ["ours, synced", "theirs, synced"])
            #expect(try server.rows(in: "Note").count == 2)
        }
    }
}
