// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

/// Attempts to reach SQL by every part of a request.
@Suite(.onEachStorage)
struct InjectionTests {
    private static let attacks = [
        "' OR '1'='1", "'; DROP TABLE rows_todoitem; --", "\" OR \"\"=\"", "1; DELETE FROM rows_todoitem",
        "') OR 1=1 --", "x') UNION SELECT fields FROM rows_secret --", "owner", "rows_secret.fields",
        "(SELECT fields FROM rows_secret)", "id) FROM rows_secret --", "sequence; ATTACH 'x' AS y",
        "odata_field(fields,'text')", "TRUE) OR (TRUE", "\\' OR 1=1 --", "%27%20OR%201=1",
        "id COLLATE NOCASE",
        "?1", ":a", "$a", "@a", "[id]", "`id`", "\u{2019} OR 1=1", "/**/OR/**/1=1", "sqlite_schema", "rowid",
        "ctid",
        "pg_sleep(1)", "$1", "$$", "'; COMMIT; DROP TABLE rows_todoitem; --", "id::text", "U&'\\0061'",
    ]

    /// The places of a request that a client fills.
    private static let places: [@Sendable (TestClient, String) async throws -> TestClient.Reply] = [
        { try await $0.list("TodoItem", [("$filter", $1)]) },
        { try await $0.list("TodoItem", [("$filter", "text eq '\($1.replacing("'", with: "''"))'")]) },
        { try await $0.list("TodoItem", [("$filter", "text eq '\($1)'")]) },
        { try await $0.list("TodoItem", [("$filter", "\($1) eq 1")]) },
        { try await $0.list("TodoItem", [("$filter", "length(\($1)) gt 0")]) },
        { try await $0.list("TodoItem", [("$orderby", $1)]) },
        { try await $0.list("TodoItem", [("$orderby", "text,\($1) desc")]) },
        { try await $0.list("TodoItem", [("$select", $1)]) },
        { try await $0.list("TodoItem", [("$skip", $1)]) },
        { try await $0.list("TodoItem", [("$top", $1)]) },
        { try await $0.list("TodoItem", [("__includeDeleted", $1)]) },
        { try await $0.list("TodoItem", [($1, "1")]) },
        { try await $0.get("/tables/\($1.encoded)") },
        { try await $0.get("/tables/TodoItem/\($1.encoded)") },
        { try await $0.delete($1) },
        { try await $0.patch("a", ["text": "Tea"], ifMatch: $1.filter(\.isASCII)) },
        { try await $0.patch("b", .object([$1: "Tea"])) },
    ]

    @Test(arguments: attacks)
    func `no part of a request is read as SQL`(_ attack: String) async throws {
        try await withServer({ $0.tables.append(.init("Secret")) }) { server, client in
            try await server.put("s", ["fields": "hidden"], in: "Secret")
            try await server.put("a", ["text": "Milk"], in: "TodoItem")
            for (number, send) in Self.places.enumerated() {
                let reply = try await send(client, attack)
                #expect([200, 400, 404, 412].contains(reply.status), "\(number)")
                #expect(!reply.text.contains("hidden"), "\(number)")
                for word in ["SQLite", "SQLSTATE", "syntax error"] {
                    #expect(!reply.text.contains(word), "\(number)")
                }
                // A condition that an attack has made true would match the row.
                if number < 5 { #expect(reply.ids.isEmpty, "\(number)") }
            }
            // Stored as data, it does nothing either.
            _ = try await client.insert(["id": .text(attack), "text": .text(attack)])
            try await #expect(client.get("/tables/TodoItem/\(attack.encoded)")["text"] == .text(attack))
            try #expect(server.row("a", in: "TodoItem")?.fields == ["text": "Milk"])
            try #expect(server.rows(in: "TodoItem").map(\.id) == ["a", attack])
            try #expect(server.rows(in: "Secret").map(\.version) == ["MQ=="])
        }
    }
}
