// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import SyncCore
import Synchronization
import Testing

@Suite
struct AuthenticationTests {
    /// Answers 401 to every token but this one.
    private func transport(accepting token: String) -> ScriptedTransport {
        ScriptedTransport { request in
            request.head.headerFields[.zumoAuth] == token
                ? HTTPTransportResponse(status: 200, body: Data(#"{"id":"a"}"#.utf8))
                : HTTPTransportResponse(status: 401)
        }
    }

    @Test func `a call is repeated once with the new token`() async throws {
        let transport = transport(accepting: "new")
        let client = try SyncClient.scripted(transport) { "new" }
        client.authenticationToken = "old"
        #expect(try await client.table("T").read(id: "a").id == "a")
        #expect(transport.requests.map { $0.head.headerFields[.zumoAuth] } == ["old", "new"])
        #expect(client.authenticationToken == "new")
    }

    @Test(arguments: ["wrong", nil])
    func `a refresh that does not help ends with one more try at most`(token: String?) async throws {
        let transport = transport(accepting: "new")
        let client = try SyncClient.scripted(transport) { token }
        let error = await #expect(throws: SyncError.self) { try await client.table("T").read(id: "a") }
        #expect(error?.code == .authenticationRequired)
        #expect(transport.requests.count == (token == nil ? 1 : 2))
    }

    @Test func `a failing refresh is the cause of the error`() async throws {
        struct Refused: Error {}
        let client = try SyncClient.scripted(transport(accepting: "new")) { throw Refused() }
        let error = await #expect(throws: SyncError.self) { try await client.table("T").read(id: "a") }
        #expect(error?.code == .authenticationRequired)
        #expect(error?.cause is Refused)
    }

    @Test func `callers that fail together refresh once`() async throws {
        let refreshes = Mutex(0)
        let (rejected, reject) = AsyncStream.makeStream(of: Void.self)
        let (start, go) = AsyncStream.makeStream(of: Void.self)
        let transport = ScriptedTransport { request in
            if request.head.headerFields[.zumoAuth] == "new" {
                return HTTPTransportResponse(status: 200, body: Data(#"{"id":"a"}"#.utf8))
            }
            reject.yield()
            return HTTPTransportResponse(status: 401)
        }
        let client = try SyncClient.scripted(transport) {
            refreshes.withLock { $0 += 1 }
            for await _ in start { break }
            return "new"
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<10 { group.addTask { _ = try await client.table("T").read(id: "a") } }
            var count = 0
            for await _ in rejected {
                count += 1
                if count == 10 { break }
            }
            go.yield()
            try await group.waitForAll()
        }
        #expect(refreshes.withLock { $0 } == 1)
        #expect(transport.requests.count == 20)
    }

    @Test func `a token set by the app during a refresh is not overwritten`() async throws {
        let box = Mutex<SyncClient?>(nil)
        let client = try SyncClient.scripted(transport(accepting: "app's")) {
            box.withLock { $0 }?.authenticationToken = "app's"
            return "hook's"
        }
        box.withLock { $0 = client }
        #expect(try await client.table("T").read(id: "a").id == "a")
        #expect(client.authenticationToken == "app's")
        box.withLock { $0 = nil }
    }

    @Test func `after signing out there is nothing to try`() async throws {
        let refreshed = Mutex(false)
        let client = try SyncClient.scripted(transport(accepting: "new")) {
            refreshed.withLock { $0 = true }
            return "new"
        }
        client.authenticationToken = "old"
        let answer = try await client.send(RemoteCall(.read(id: "a"), table: "T"))
        client.authenticationToken = nil
        #expect(try await !client.refreshAuthentication(after: answer))
        #expect(!refreshed.withLock { $0 })
    }

    @Test func `who is cancelled while waiting leaves, and the others go on`() async throws {
        let (start, go) = AsyncStream.makeStream(of: Void.self)
        let (refreshing, begun) = AsyncStream.makeStream(of: Void.self)
        let client = try SyncClient.scripted(transport(accepting: "new")) {
            begun.yield()
            for await _ in start { break }
            return "new"
        }
        let first = Task { try await client.table("T").read(id: "a") }
        for await _ in refreshing { break }
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await client.table("T").read(id: "a")
        }
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        let answer = try await client.send(RemoteCall(.read(id: "a"), table: "T"))
        let waiting = Task { try await client.refreshAuthentication(after: answer) }
        for _ in 0..<100 { await Task.yield() }
        waiting.cancel()
        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await client.refreshAuthentication(after: answer)
        }
        await #expect(throws: CancellationError.self) { try await late.value }
        await #expect(throws: CancellationError.self) { try await waiting.value }
        go.yield()
        #expect(try await first.value.id == "a")
        #expect(try await client.table("T").read(id: "a").id == "a")
    }
}
