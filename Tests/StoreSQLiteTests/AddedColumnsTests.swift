// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreSQLite
import SyncCore
import TestSupport
import Testing

/// Openings of a shared file that declare different columns, for example during an update of the app.
struct AddedColumnsTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func open(_ columns: SyncColumn...) throws -> SQLiteStore {
        try SQLiteStore(
            path: directory.file(), tables: [SyncTableDefinition("Thing", columns: columns)],
            sharing: .shared)
    }

    @Test func `an upsert keeps nulls and negative zeros of columns that another opening has added`() throws {
        let text = SyncColumn("text", .text)
        let older = try open(text)
        try older.put(Item(id: "0", fields: ["text": "before"]))
        let newer = try open(text, SyncColumn("note", .text), SyncColumn("ratio", .double))
        var item = Item(id: "1", fields: ["text": "newer", "note": .null, "ratio": .double(-0.0)])
        try newer.put(item)
        for _ in 0..<2 {
            try older.put(Item(id: "1", fields: ["text": "older"]))
            item["text"] = "older"
            try #expect(newer.thing("1") == item)
            try #expect(older.thing("1") == Item(id: "1", fields: ["text": "older"]))
        }
        try older.put(Item(id: "1", fields: ["text": .null]))
        item["text"] = .null
        try #expect(newer.thing("1") == item)
        try newer.put(Item(id: "1"))
        try #expect(newer.thing("1") == Item(id: "1"))
        try newer.close()
        try older.close()
    }
}
