// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import SyncCore
import Synchronization
import Testing

@Suite
struct AuthenticationTests {
    /// Returns a transport that responds with 401 to any other token.
    private func transport(accepting token: String) -> ScriptedTransport {
        ScriptedTransport { request in
            request.head.headerFields[.zumoAuth] == token
                ? HTTPTransportResponse(status: 200, body: Data(#"{"id":"a"}"#.utf8))
                : HTTPTransportResponse(status: 401)
        }
    }

    @Test func `a call is sent again once with the new token`() async throws {
        let transport = transport(accepting: "new")
        let client = try SyncClient.scripted(transport) { "new" }
        client.authenticationToken = "old"
        #expect(try await client.table("T").read(id: "a").id == "a")
        #expect(transport.requests.map { $0.head.headerFields[.zumoAuth] } == ["old", "new"])
        #expect(client.authenticationToken == "new")
    }

    @Test(arguments: ["wrong", nil])
    func `a refresh without a valid token causes at most one more request`(token: String?) async throws {
        let transport = transport(accepting: "new")
        let client = try SyncClient.scripted(transport) { token }
        let error = await #expect(throws: SyncError.self) { try await client.table("T").read(id: "a") }
        #expect(error?.code == .authenticationRequired)
        #expect(transport.requests.count == (token == nil ? 1 : 2))
    }

    @Test func `an error thrown by the refresh is the cause of the error`() async throws {
        struct Refused: Error {}
        let client = try SyncClient.scripted(transport(accepting: "new")) { throw Refused() }
        let error = await #expect(throws: SyncError.self) { try await client.table("T").read(id: "a") }
        #expect(error?.code == .authenticationRequired)
        #expect(error?.cause is Refused)
    }

    @Test func `concurrent calls that are rejected share one refresh`() async throws {
        let refreshes = Mutex(0)
        let (rejections, rejected) = AsyncStream.makeStream(of: Void.self)
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let transport = ScriptedTransport { request in
            if request.head.headerFields[.zumoAuth] == "new" {
                return HTTPTransportResponse(status: 200, body: Data(#"{"id":"a"}"#.utf8))
            }
            rejected.yield()
            return HTTPTransportResponse(status: 401)
        }
        let client = try SyncClient.scripted(transport) {
            refreshes.withLock { $0 += 1 }
            for await _ in gate { break }
            return "new"
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<10 { group.addTask { _ = try await client.table("T").read(id: "a") } }
            var count = 0
            for await _ in rejections {
                count += 1
                if count == 10 { break }
            }
            open.yield()
            try await group.waitForAll()
        }
        #expect(refreshes.withLock { $0 } == 1)
        #expect(transport.requests.count == 20)
    }

    @Test(arguments: [true, false])
    func `concurrent calls that are rejected share a failed refresh`(throwing: Bool) async throws {
        struct Refused: Error {}
        let refreshes = Mutex(0)
        let (rejections, rejected) = AsyncStream.makeStream(of: Void.self)
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let transport = ScriptedTransport { _ in
            rejected.yield()
            return HTTPTransportResponse(status: 401)
        }
        let client = try SyncClient.scripted(transport) {
            refreshes.withLock { $0 += 1 }
            for await _ in gate { break }
            if throwing { throw Refused() }
            return nil
        }
        await withTaskGroup(of: SyncError?.self) { group in
            for _ in 0..<10 {
                group.addTask {
                    do {
                        _ = try await client.table("T").read(id: "a")
                        return nil
                    } catch { return error as? SyncError }
                }
            }
            var count = 0
            for await _ in rejections {
                count += 1
                if count == 10 { break }
            }
            open.finish()
            for await error in group { #expect(error?.code == .authenticationRequired) }
        }
        // A call that comes to the refresh after its end begins another.
        #expect(refreshes.withLock { $0 } < 10)
    }

    @Test func `a refresh that the user dismisses is a failed sign-in, and no cancellation`() async throws {
        let client = try SyncClient.scripted(ScriptedTransport { _ in HTTPTransportResponse(status: 401) }) {
            throw CancellationError()
        }
        let error = await #expect(throws: SyncError.self) { try await client.table("T").read(id: "a") }
        #expect(error?.code == .authenticationRequired)
    }

    @Test func `a call that is cancelled during a refresh throws at once, and the refresh continues`()
        async throws
    {
        let (began, hasBegun) = AsyncStream.makeStream(of: Void.self)
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let refreshes = Mutex(0)
        let client = try SyncClient.scripted(transport(accepting: "new")) {
            refreshes.withLock { $0 += 1 }
            hasBegun.yield()
            for await _ in gate { break }
            return Task.isCancelled ? nil : "new"
        }
        let call = Task { try await client.table("T").read(id: "a") }
        for await _ in began { break }
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        let other = Task { try await client.table("T").read(id: "a") }
        open.finish()
        #expect(try await other.value.id == "a")
        #expect(refreshes.withLock { $0 } == 1)
    }

    @Test func `a token set by the app during a refresh is not overwritten`() async throws {
        let clientBox = Mutex<SyncClient?>(nil)
        let client = try SyncClient.scripted(transport(accepting: "app token")) {
            clientBox.withLock { $0 }?.authenticationToken = "app token"
            return "refreshed token"
        }
        clientBox.withLock { $0 = client }
        #expect(try await client.table("T").read(id: "a").id == "a")
        #expect(client.authenticationToken == "app token")
        clientBox.withLock { $0 = nil }
    }

    @Test(arguments: [false, true])
    func `a token set by the app during a refresh that fails is used`(throwing: Bool) async throws {
        let clientBox = Mutex<SyncClient?>(nil)
        let client = try SyncClient.scripted(transport(accepting: "app token")) {
            clientBox.withLock { $0 }?.authenticationToken = "app token"
            if throwing { throw URLError(.userAuthenticationRequired) }
            return nil
        }
        clientBox.withLock { $0 = client }
        #expect(try await client.table("T").read(id: "a").id == "a")
        clientBox.withLock { $0 = nil }
    }

    @Test(arguments: ["new", nil])
    func `calls continue with a token that the app sets while a refresh does not return`(token: String?)
        async throws
    {
        let (refreshes, started) = AsyncStream.makeStream(of: Void.self)
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        defer { open.finish() }
        let client = try SyncClient.scripted(transport(accepting: "new")) {
            started.yield()
            for await _ in gate {}
            return nil
        }
        client.authenticationToken = "old"
        let call = Task { try await client.table("T").read(id: "a").id }
        for await _ in refreshes { break }
        client.authenticationToken = token
        if token == nil {
            let error = await #expect(throws: SyncError.self) { try await call.value }
            #expect(error?.code == .authenticationRequired)
        } else {
            #expect(try await call.value == "a")
        }
    }

    @Test func `no refresh runs after the user has signed out`() async throws {
        let refreshed = Mutex(false)
        let client = try SyncClient.scripted(transport(accepting: "new")) {
            refreshed.withLock { $0 = true }
            return "new"
        }
        client.authenticationToken = "old"
        let response = try await client.send(RemoteCall(.read(id: "a"), table: "T"))
        client.authenticationToken = nil
        #expect(try await !client.refreshAuthentication(after: response))
        #expect(!refreshed.withLock { $0 })
    }

    @Test func `a caller that is cancelled while it waits for a refresh throws, and the others continue`()
        async throws
    {
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let (refreshes, started) = AsyncStream.makeStream(of: Void.self)
        let client = try SyncClient.scripted(transport(accepting: "new")) {
            started.yield()
            for await _ in gate { break }
            return "new"
        }
        let first = Task { try await client.table("T").read(id: "a") }
        for await _ in refreshes { break }
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await client.table("T").read(id: "a")
        }
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        let response = try await client.send(RemoteCall(.read(id: "a"), table: "T"))
        let executor = SerialTaskExecutor()
        let waiting = Task(executorPreference: executor) {
            try await client.refreshAuthentication(after: response)
        }
        // The task is now suspended until the running refresh returns.
        await executor.drain()
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        let cancelledBefore = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await client.refreshAuthentication(after: response)
        }
        await #expect(throws: CancellationError.self) { try await cancelledBefore.value }
        open.yield()
        #expect(try await first.value.id == "a")
        #expect(try await client.table("T").read(id: "a").id == "a")
    }

    @Test(arguments: ["new", nil])
    func `a request of the refresh that is rejected is an error, and the refresh goes on`(token: String?)
        async throws
    {
        let clientBox = Mutex<SyncClient?>(nil)
        let transport = transport(accepting: "new")
        let client = try SyncClient.scripted(transport) {
            let sameClient = clientBox.withLock { $0 }
            let error = await #expect(throws: SyncError.self) {
                try await sameClient?.table("T").read(id: "user")
            }
            #expect(error?.code == .authenticationRequired)
            return token
        }
        clientBox.withLock { $0 = client }
        client.authenticationToken = "old"
        if token == nil {
            let error = await #expect(throws: SyncError.self) { try await client.table("T").read(id: "a") }
            #expect(error?.code == .authenticationRequired)
        } else {
            #expect(try await client.table("T").read(id: "a").id == "a")
        }
        let tokens = transport.requests.map { $0.head.headerFields[.zumoAuth] }
        #expect(tokens == (token == nil ? ["old", "old"] : ["old", "old", "new"]))
        clientBox.withLock { $0 = nil }
    }

    @Test func `a task that a refresh has started can refresh after it`() async throws {
        let clientBox = Mutex<SyncClient?>(nil)
        let later = Mutex<Task<String?, any Error>?>(nil)
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let tokens = Mutex(["first", "second"])
        let accepted = Mutex("first")
        let transport = ScriptedTransport { request in
            request.head.headerFields[.zumoAuth] == accepted.withLock(\.self)
                ? HTTPTransportResponse(status: 200, body: Data(#"{"id":"a"}"#.utf8))
                : HTTPTransportResponse(status: 401)
        }
        let client = try SyncClient.scripted(transport) {
            let sameClient = clientBox.withLock { $0 }
            later.withLock { task in
                if task == nil {
                    task = Task {
                        for await _ in gate { break }
                        return try await sameClient?.table("T").read(id: "a").id
                    }
                }
            }
            return tokens.withLock { $0.removeFirst() }
        }
        clientBox.withLock { $0 = client }
        #expect(try await client.table("T").read(id: "a").id == "a")
        accepted.withLock { $0 = "second" }
        open.finish()
        #expect(try await later.withLock(\.self)?.value == "a")
        #expect(client.authenticationToken == "second")
        clientBox.withLock { $0 = nil }
    }

    @Test(arguments: [true, false])
    func `a failed refresh of the former user's token does not fail the calls of the next user`(
        throwing: Bool
    ) async throws {
        let (began, hasBegun) = AsyncStream.makeStream(of: Void.self)
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let refreshes = Mutex(0)
        let client = try SyncClient.scripted(transport(accepting: "new B")) {
            let isFirst = refreshes.withLock { refreshes in
                refreshes += 1
                return refreshes == 1
            }
            guard isFirst else { return "new B" }
            hasBegun.yield()
            for await _ in gate { break }
            if throwing { throw URLError(.notConnectedToInternet) }
            return nil
        }
        client.authenticationToken = "A"
        let former = Task { try await client.table("T").read(id: "a").id }
        for await _ in began { break }
        client.authenticationToken = nil
        await #expect(throws: SyncError.self) { try await former.value }
        client.authenticationToken = "B"
        let response = try await client.send(RemoteCall(.read(id: "a"), table: "T"))
        let executor = SerialTaskExecutor()
        let waiting = Task(executorPreference: executor) {
            try await client.refreshAuthentication(after: response)
        }
        // The task is now suspended until the refresh for the former user returns.
        await executor.drain()
        open.finish()
        #expect(try await waiting.value)
        #expect(refreshes.withLock { $0 } == 2)
        #expect(try await client.table("T").read(id: "a").id == "a")
    }
}
