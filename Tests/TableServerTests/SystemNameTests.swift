// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import Testing

@testable import TableServer

/// Fields with the names of system properties of other dialects.
@Suite(.onEachStorage)
struct SystemNameTests {
    @Test(
        arguments: [
            (.v1, "version"), (.v1, "Deleted"), (.v1, "updatedAt"), (.v1, "createdAt"), (.v2, "__version"),
            (.v2, "__DELETED"), (.v3, "__updatedAt"), (.v3, "__createdAt"),
        ] as [(TableServer.Dialect, String)])
    func `a field with the name of a system property of another dialect is 400`(
        _ dialect: TableServer.Dialect, _ name: String
    ) async throws {
        try await withServer { server, client in
            let reply = try await client.send(dialect, "POST", "TodoItem", .object(["id": "a", name: "zzz"]))
            #expect(reply.status == 400)
            #expect(reply["error"]?.textValue?.contains(name) == true)
            #expect(try server.rows(in: "TodoItem").isEmpty)
        }
    }

    @Test func `such a field of a stored row hides no system property`() async throws {
        try await withServer { server, client in
            _ = try await server.service.storage.write(RowScope(table: TableServer.Table("TodoItem"))) {
                rows in
                try rows.put(
                    TableRow(
                        id: "a",
                        fields: [
                            "version": "zzz", "Deleted": true, "updatedAt": "9999", "__version": "zzz",
                            "__updatedAt": "9999", "text": "Milk", "nested": ["version": 1],
                        ], createdAt: .noon, updatedAt: .noon, revision: 1, deleted: false, sequence: 0))
            }
            for dialect in TableServer.Dialect.allCases {
                let parameters = ["", "&$select=id,text,nested,version,__version,deleted,updatedAt"]
                for parameter in parameters {
                    let path = "TodoItem?__systemproperties=*\(parameter)"
                    let reply = try await client.send(dialect, "GET", path)
                    #expect(!reply.text.contains("zzz") && !reply.text.contains("9999"))
                    let row = try #require(reply.items.first)
                    #expect(row["text"] == "Milk" && row["nested"] == ["version": 1])
                    if dialect != .v1 { #expect(row["version"] == "MQ==" && row["deleted"] == false) }
                }
                let row = try await client.send(dialect, "GET", "TodoItem/a?__systemproperties=*")
                #expect(row[dialect == .v1 ? "__version" : "version"] == "MQ==")
                #expect(!row.text.contains("zzz"))
            }
        }
    }
}

struct RemovedFieldTests {
    @Test(arguments: [
        ("{}", "{}"), (#"{"a":1}"#, #"{"a":1}"#), (#"{"version":{"a":[1,"}"]}}"#, "{}"),
        (#"{"VERSION":1,"a":"x\"version","deleted":2}"#, #"{"a":"x\"version"}"#),
        (#"{"a":{"version":1},"__createdAt":null,"b":2}"#, #"{"a":{"version":1},"b":2}"#),
    ])
    func `fields with names of system properties are removed from the JSON of a row`(
        _ object: String, _ remaining: String
    ) {
        #expect(JSONFields.removing(from: object, where: TableServer.Dialect.isSystemName) == remaining)
    }
}
