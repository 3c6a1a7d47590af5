// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPTransport
import Foundation
import HTTPTypes
import StoreMemory
import SyncCore
import TableServer
import Testing

/// The samples of the article "Authentication".
struct AuthenticationSamples {
    private actor Session {
        func newToken() async throws -> String? { "new" }
    }

    struct Authorization: HTTPMiddleware {
        let token: @Sendable () async throws -> String

        func intercept(
            _ request: HTTPTransportRequest, next: HTTPMiddlewareNext
        ) async throws -> HTTPTransportResponse {
            var request = request
            request.head.headerFields[.authorization] = "Bearer \(try await token())"
            return try await next(request)
        }
    }

    @Test func `a token that expires is refreshed`() async throws {
        let session = Session()
        try await withTableServer(.init(tables: [.init("TodoItem")])) { server in
            let url = server.url

            let client = SyncClient(
                url: url,
                refreshAuthentication: { try await session.newToken() })
            client.authenticationToken = "the user's token"

            server.inject(.answer(status: 401))
            _ = try await client.table("TodoItem").query(TableQuery("TodoItem"))
            #expect(server.requests.map { $0.header("X-ZUMO-AUTH") } == ["the user's token", "new"])
        }
    }

    @Test func `a transport with middleware`() async throws {
        try await withTableServer(.init(tables: [.init("TodoItem")])) { server in
            let url = server.url

            let transport = URLSessionTransport(idleTimeout: .seconds(30))
                .intercepted(by: Authorization { "secret" })
            let client = SyncClient(url: url, transport: transport)

            _ = try await client.table("TodoItem").query(TableQuery("TodoItem"))
            #expect(server.requests.map { $0.header("Authorization") } == ["Bearer secret"])
        }
    }

    @Test func `the transport for Linux`() async throws {
        try await withTableServer(.init(tables: [.init("TodoItem")])) { server in
            let url = server.url

            #if os(Linux)
                let client = SyncClient(url: url, transport: AsyncHTTPTransport())
            #else
                let client = SyncClient(url: url)
            #endif

            _ = try await client.table("TodoItem").query(TableQuery("TodoItem"))
        }
    }

    @Test func `clients of other dialects`() throws {
        let url = try #require(URL(string: "https://example.com"))
        let key = "application-key"

        let toolkit = SyncClient(url: url, dialect: .v3)
        let services = SyncClient(url: url, dialect: .v1, applicationKey: key)

        #expect(toolkit.dialect == .v3 && services.dialect == .v1)
    }

    @Test func `one store for one user`() async throws {
        let store = try MemoryStore(tables: [SyncTableDefinition("TodoItem", columns: [])])
        let url = try #require(URL(string: "https://example.com"))
        let (client, accountID) = (SyncClient(url: url), "account-1")

        let context = SyncContext(client: client, dataSource: store, userID: accountID)

        #expect(try await context.table("TodoItem").items().isEmpty)
        let other = SyncContext(client: client, dataSource: store, userID: "account-2")
        await #expect(throws: SyncError.self) { try await other.table("TodoItem").items() }

        try await other.purgeAll(pending: .discard)

        #expect(try await other.table("TodoItem").items().isEmpty)
    }
}
