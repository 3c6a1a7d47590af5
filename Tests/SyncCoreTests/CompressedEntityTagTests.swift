// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import StoreMemory
import Testing

@testable import SyncCore

/// Proxies that compress responses add a suffix to strong entity tags.
@Suite struct CompressedEntityTagTests {
    @Test(arguments: [
        ("2-gzip", "2", "2"), ("2-br", "2", "2"), ("Mg==-gzip", "Mg==", "Mg=="), ("a-1-gzip", "a-1", "a-1"),
        ("3", "2", "3"), ("2", "2", "2"), ("2-", "2", "2-"), ("2gzip", "2", "2gzip"), ("1-2", "2", "1-2"),
        ("2-gzip", "", "2-gzip"),
    ])
    func `the row's own version precedes an entity tag that adds a suffix to it`(
        tag: String, own: String, version: String
    ) throws {
        let row: [String: ItemValue] = ["id": "a", "version": .text(own)]
        #expect(try WireRow(row, version: tag, dialect: .v2).item.system.version == version)
    }

    @Test func `edits behind a proxy that compresses do not conflict with each other`() async throws {
        let server = ModelServer()
        let transport = ScriptedTransport { request in
            var response = try await server.send(request)
            if let tag = response.head.headerFields[.eTag] {
                response.head.headerFields[.eTag] = "\(tag.dropLast())-gzip\""
            }
            return response
        }
        let definition = SyncTableDefinition("T", columns: [SyncColumn("text", .text)])
        let context = SyncContext(
            client: try SyncClient.scripted(transport, url: "https://example.com"),
            dataSource: try MemoryStore(tables: [definition]), environment: .inline)
        let table = context.table("T")
        try await table.insert(["id": "a", "text": "0"])
        try await context.push()
        for number in 1...3 {
            try await table.update(id: "a", ["text": .text("\(number)")])
            try await context.push()
        }
        #expect(server.rows["a"]?.fields["text"] == "3")
        #expect(try await table.item(id: "a")?.system.version == "4")
        #expect(try await context.pendingOperations().isEmpty)
    }
}
