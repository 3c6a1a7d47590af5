// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Testing

/// Ids of the app: each is refused, or is the same bytes in the store, on the wire and on the server.
@Suite struct HostileIDTests {
    static let invalid: [String] = [
        "", ".", "..", "a/b", "/", "a\\b", "a?b", "a#b", "a+b", "a`b", "a\"b", "\"", "\0", "a\0b", "\n",
        "\r\n", "a\tb", "\u{1F}",
        "\u{7F}", "\u{80}", "\u{9F}", "a\u{85}b", "../../etc/passwd", "a/../b", "a%00b/c",
        String(repeating: "x", count: 256),
        String(repeating: "é", count: 256), String(repeating: "😀", count: 256),
        String(repeating: "e\u{301}", count: 128),
        String(repeating: "x", count: 1_000_000), "?", "#", "+", "`", "\u{B}", "\u{1B}[31m",
    ]

    static let valid: [String] = [
        " ", "  a  ", "...", ".a", "a.", "%", "%2F", "%2e%2e", "%00", "%zz", "&", "=", ";", ":", "@", "$",
        ",", "!", "*", "(", ")", "[]",
        "{}", "<>", "|", "^", "~", "'", "''", "'; DROP TABLE Thing;--", "a' or '1' eq '1", "null", "true",
        "NaN", "id", "0", "-0", "-1",
        "１", "A", "a", "ä", "a\u{308}", "Å", "\u{212B}", "ﬀ", "ff", "\u{200B}", "\u{202E}abc", "\u{2028}",
        "a\u{FEFF}", "\u{FEFF}a", "\u{FEFF}", "\u{FFFD}",
        "\u{FFFE}", "\u{10FFFF}", "😀", "👩‍👩‍👧", "\u{E000}", "\u{AD}", String(repeating: "x", count: 255),
        String(repeating: "é", count: 255), String(repeating: "😀", count: 255),
        String(repeating: "y", count: 254) + "é",
        "prefix", "prefix1", "prefix ", "pre", "MS_TableOperations", "sqlite_master",
        "00000000-0000-0000-0000-000000000000",
    ]

    @Test(arguments: StoreKind.allCases, invalid)
    func `an invalid id is refused and changes nothing`(_ kind: StoreKind, id: String) async throws {
        try await Client.run(on: kind) { client in
            let table = client.table
            try await table.insert(["id": "x", "text": "one"])
            let before = try await client.contents()
            #expect(try await code { try await table.insert(["id": .text(id)]) } == .invalidItemID)
            #expect(try await code { try await table.update(id: id, ["text": "?"]) } == .invalidItemID)
            #expect(try await code { try await table.replace(Item(id: id)) } == .invalidItemID)
            #expect(try await code { try await table.delete(id: id) } == .invalidItemID)
            let batch = try await code {
                try await client.context.batch { batch in
                    try batch.insert(["id": "y"], in: Thing.name)
                    try batch.insert(["id": .text(id)], in: Thing.name)
                }
            }
            #expect(batch == .invalidItemID)
            let enqueued = try await code {
                try await client.context.enqueueExternalChanges(in: Thing.name, changed: [id])
            }
            #expect(enqueued == .invalidItemID)
            #expect(try await table.item(id: id) == nil)
            let remote = client.context.client.table(Thing.name)
            #expect(try await code { _ = try await remote.read(id: id) } == .invalidItemID)
            #expect(try await code { try await remote.delete(id: id, version: nil) } == .invalidItemID)
            #expect(client.server.requests.isEmpty)
            #expect(try await client.contents() == before)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a valid id is the same bytes in the store and on the server`(_ kind: StoreKind) async throws {
        try await Client.run(on: kind) { client in
            for id in Self.valid { try await client.table.insert(["id": .text(id), "text": .text(id)]) }
            try await client.expectHealthySync()
            #expect(client.server.rows().count == Self.valid.count)
            for id in Self.valid {
                let item = try #require(try await client.table.item(id: id))
                #expect(UTF8Text(item.id) == UTF8Text(id))
                #expect(item["text"].map { $0.textValue.map(UTF8Text.init) } == UTF8Text(id))
                let found = try await client.table.items(matching: Thing.query.where(.column("id") == id))
                    .items
                #expect(found.map { UTF8Text($0.id) } == [UTF8Text(id)])
                let remote = client.context.client.table(Thing.name)
                #expect(try await UTF8Text(remote.read(id: id).id) == UTF8Text(id))
                let queried = try await remote.query(Thing.query.where(.column("id") == id)).items
                #expect(queried.map { UTF8Text($0.id) } == [UTF8Text(id)])
            }
            for id in Self.valid { try await client.table.update(id: id, ["integer": 1]) }
            try await client.expectHealthySync()
            for id in Self.valid { try await client.table.delete(id: id) }
            try await client.expectHealthySync()
            #expect(client.server.rows().isEmpty)
        }
    }
}
