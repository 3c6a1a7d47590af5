// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreMemory
import SyncModels
import Synchronization
import TableServer
import TestSupport
import Testing

/// A count that never reached the server is no count whose response was lost.
@Suite struct UnsentCountTests {
    /// A transport whose next requests fail before they are sent.
    private final class FailingTransport: HTTPTransport {
        let failures = Mutex<[NetworkFailure.Reason]>([])
        /// Whether requests find no network after the next one, which is sent.
        let failsAfterNext = Mutex(false)

        func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
            defer {
                if failsAfterNext.withLock({ $0 }) {
                    failsAfterNext.withLock { $0 = false }
                    failures.withLock { $0 = [.connectionRefused] }
                }
            }
            if let reason = failures.withLock({ $0.popLast() }) {
                throw NetworkFailure(reason, host: "server.example", port: 443)
            }
            return try await URLSessionTransport.patient.send(request)
        }
    }

    /// Runs the body with the page `x`, which has been seen 5 times, on the server and on a device that has counted a sixth time.
    private static func withCount(
        attempts: Int = 1, sleep: @escaping @Sendable (Duration) async throws -> Void = { _ in },
        _ body: (SyncContext, FailingTransport, TableServer) async throws -> Void
    ) async throws {
        try await withTableServer(.init(tables: [.init("Page")])) { server in
            let transport = FailingTransport()
            var settings = SyncSettings()
            settings.retry.maxAttempts = attempts
            settings.resolveByField(Page.self)
            var environment = SyncEnvironment.live
            environment.sleep = sleep
            let context = SyncContext(
                client: SyncClient(url: server.url, transport: transport),
                dataSource: try MemoryStore(tables: .models(Page.self)), settings: settings,
                environment: environment)
            try await server.put("x", ["title": "A", "views": 5], in: "Page")
            try await context.table(Page.self).pull()
            try await context.table(Page.self).update("x") { $0.views += 1 }
            try await body(context, transport, server)
            #expect(try await context.table(Page.self).get("x")?.views == 7)
            #expect(try server.row("x", in: "Page")?.fields["views"] == 7)
            try await context.close()
        }
    }

    @Test(arguments: [NetworkFailure.Reason.unreachable, .unknownHost, .connectionRefused])
    func `a count that found no network is added to the same count of another device`(
        _ reason: NetworkFailure.Reason
    ) async throws {
        try await Self.withCount { context, transport, server in
            transport.failures.withLock { $0 = [reason] }
            await #expect(throws: SyncError.self) { try await context.push() }
            #expect(try await context.pendingOperations().map(\.state) == [.pending])
            try await server.update("x", ["views": 6], in: "Page")
            try await context.push()
        }
    }

    @Test func `a count whose first try found no network is added to the same count of another device`()
        async throws
    {
        try await Self.withCount(attempts: 2) { context, transport, server in
            try await server.update("x", ["views": 6], in: "Page")
            transport.failures.withLock { $0 = [.connectionRefused] }
            try await context.push()
        }
    }

    @Test func `a count whose push was cancelled without a network is added to that of another device`()
        async throws
    {
        let cancel: @Sendable (Duration) async throws -> Void = { _ in
            withUnsafeCurrentTask { $0?.cancel() }
            try Task.checkCancellation()
        }
        try await Self.withCount(attempts: 2, sleep: cancel) { context, transport, server in
            transport.failures.withLock { $0 = [.unreachable] }
            await #expect(throws: CancellationError.self) { try await context.push() }
            try await server.update("x", ["views": 6], in: "Page")
            try await context.push()
        }
    }

    /// Repeats a request without response.
    private struct Repeating: HTTPMiddleware {
        func intercept(
            _ request: HTTPTransportRequest, next: HTTPMiddlewareNext
        ) async throws -> HTTPTransportResponse {
            do { return try await next(request) } catch { return try await next(request) }
        }
    }

    /// Expects that a push leaves open whether the insert of `x` is applied, so that a deletion is sent.
    private static func expectMayBeApplied(_ context: SyncContext, _ server: TableServer) async throws {
        await #expect(throws: SyncError.self) { try await context.push() }
        #expect(try await context.pendingOperations().map(\.state) == [.attempted])
        try await context.table(Page.self).delete("x")
        try await context.push()
        #expect(try server.row("x", in: "Page")?.deleted == true)
    }

    /// Runs the body with a context whose requests are repeated once, and an insert of `x` that is pending.
    private static func withRepeatedInsert(
        over transport: any HTTPTransport, _ body: (SyncContext, TableServer) async throws -> Void
    ) async throws {
        try await withTableServer(.init(tables: [.init("Page")])) { server in
            var settings = SyncSettings()
            settings.retry.maxAttempts = 1
            let context = SyncContext(
                client: SyncClient(url: server.url, transport: transport.intercepted(by: Repeating())),
                dataSource: try MemoryStore(tables: .models(Page.self)), settings: settings)
            try await context.table(Page.self).insert(Page(id: "x"))
            try await body(context, server)
            try await context.close()
        }
    }

    @Test func `a write that middleware has sent before it found no network may be applied`() async throws {
        let transport = FailingTransport()
        try await Self.withRepeatedInsert(over: transport) { context, server in
            server.inject(.dropAnswer, when: { $0.method == "POST" })
            transport.failsAfterNext.withLock { $0 = true }
            try await Self.expectMayBeApplied(context, server)
        }
    }

    @Test func `a write that was delivered twice may be applied, although its row cannot be read`()
        async throws
    {
        var settings = SyncSettings()
        settings.retry.maxAttempts = 1
        try await withServer(.models(Page.self), settings: settings) { context, server in
            try await context.table(Page.self).insert(Page(id: "x"))
            server.inject(.applyTwice, when: { $0.method == "POST" })
            server.inject(.dropRequest, when: { $0.method == "GET" })
            try await Self.expectMayBeApplied(context, server)
        }
    }

    @Test(arguments: [ServerFault.dropRequest, .answer(status: 503)])
    func `a count that was refused is added to that of another device, although its row could not be read`(
        _ fault: ServerFault
    ) async throws {
        try await Self.withCount { context, _, server in
            try await server.update("x", ["views": 6], in: "Page")
            server.inject(.answer(status: 412), when: { $0.method == "PATCH" })
            server.inject(fault, when: { $0.method == "GET" })
            await #expect(throws: SyncError.self) { try await context.push() }
            try await context.push()
        }
    }

    @Test(arguments: [407, 425, 429])
    func `a count that the server has not processed is added to the same count of another device`(
        _ status: Int
    ) async throws {
        try await Self.withCount(attempts: 2) { context, _, server in
            try await server.update("x", ["views": 6], in: "Page")
            server.inject(.answer(status: status), when: { $0.method == "PATCH" })
            if status == 407 { await #expect(throws: SyncError.self) { try await context.push() } }
            try await context.push()
        }
    }

    @Test(arguments: [401, 400])
    func `a write that middleware has sent twice may be applied, although the last response is a refusal`(
        _ status: Int
    ) async throws {
        try await Self.withRepeatedInsert(over: URLSessionTransport.patient) { context, server in
            server.inject(.dropAnswer, when: { $0.method == "POST" })
            let refusal = ServerFault.answer(
                status: status, headers: ["Content-Type": "application/json"], body: Data("{}".utf8))
            server.inject(refusal, when: { $0.method == "POST" })
            try await Self.expectMayBeApplied(context, server)
        }
    }
}
