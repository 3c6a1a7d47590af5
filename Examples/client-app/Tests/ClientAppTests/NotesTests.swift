// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ClientApp
import Foundation
import SyncCore
import Testing

struct NotesTests {
    /// A transport without a network.
    private actor OfflineTransport: HTTPTransport {
        private(set) var headers: [String?] = []

        func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
            headers.append(request.head.headerFields[.authorization])
            throw NetworkFailure(.connectionRefused, host: "example.com", port: 443)
        }
    }

    @Test func `notes stay in the queue while the server cannot be reached`() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path()
        defer {
            for suffix in ["", "-wal", "-shm", ".lock"] {
                try? FileManager.default.removeItem(atPath: path + suffix)
            }
        }
        let transport = OfflineTransport()
        let url = try #require(URL(string: "https://example.com"))
        let notes = try Notes(path: path, url: url, token: "secret", transport: transport)
        _ = try await notes.add("Milk")
        #expect(try await notes.push() == false)
        #expect(try await notes.open() == ["Milk"])
        #expect(await transport.headers.first == "Bearer secret")
        try await notes.close()
    }
}
