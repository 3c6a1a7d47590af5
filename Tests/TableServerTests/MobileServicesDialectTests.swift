// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import TableServer
import Testing

/// Requests of the dialect v1.
@Suite(.onEachStorage)
struct MobileServicesDialectTests {
    /// Sends a request with an application key and without an API version.
    private func send(
        _ client: TestClient, _ method: String, _ path: String, _ body: ItemValue? = nil
    ) async throws -> TestClient.Reply {
        try await client.send(
            method, "/tables/\(path)", body, headers: ["X-ZUMO-APPLICATION": "key"], apiVersion: nil)
    }

    @Test func `responses contain the requested system properties, with two underscores`() async throws {
        try await withServer { _, client in
            let insert = try await send(
                client, "POST", "TodoItem?__systemproperties=*", ["id": "a", "text": "Milk"])
            #expect(insert.status == 201)
            #expect(insert.etag == "\"MQ==\"")
            #expect(
                insert.json == [
                    "id": "a", "text": "Milk", "__deleted": false, "__version": "MQ==",
                    "__createdAt": "2024-05-30T12:00:00.000Z", "__updatedAt": "2024-05-30T12:00:00.000Z",
                ])
            try await #expect(send(client, "GET", "TodoItem/a").json == ["id": "a", "text": "Milk"])
            let list = try await send(client, "GET", "TodoItem?__systemproperties=version,%20__deleted")
            #expect(list.items == [["id": "a", "text": "Milk", "__version": "MQ==", "__deleted": false]])
        }
    }

    @Test func `filters, orders and selections name system columns with two underscores`() async throws {
        try await withServer { _, client in
            for id in ["a", "b"] { _ = try await send(client, "POST", "TodoItem", ["id": .text(id)]) }
            let date = "datetimeoffset'2024-05-30T12:00:00.000Z'".encoded
            let list = try await send(
                client, "GET",
                "TodoItem?$filter=__updatedAt%20ge%20\(date)%20and%20id%20eq%20'b'&$orderby=__createdAt"
                    + "&$select=id,__version")
            #expect(list.items == [["id": "b"]])
        }
    }

    @Test func `a selection leaves out no system property that is requested`() async throws {
        try await withServer { _, client in
            _ = try await send(client, "POST", "TodoItem", ["id": "a", "text": "Milk", "__private": 1])
            let list = try await send(
                client, "GET", "TodoItem?$select=text&__systemproperties=__version,deleted")
            #expect(list.items == [["text": "Milk", "__version": "MQ==", "__deleted": false]])
        }
    }

    @Test func `the server sets the properties with two underscores`() async throws {
        try await withServer { _, client in
            let reply = try await send(client, "POST", "TodoItem", ["id": "a", "__createdAt": nil])
            #expect(reply.status == 400)
            // Names without them are those of the other dialects.
            try await #expect(send(client, "POST", "TodoItem", ["id": "a", "version": 7]).status == 400)
        }
    }
}
