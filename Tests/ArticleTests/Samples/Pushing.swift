// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreMemory
import SyncCore
import TableServer
import Testing

/// The samples of the article "Pushing".
struct PushingSamples {
    private static let todo = SyncTableDefinition("TodoItem", columns: [SyncColumn("text", .text)])

    func syncNow(_ context: SyncContext) async -> String {
        do {
            let result = try await context.push()
            return "\(result.completed) changes sent"
        } catch let error as SyncError {
            switch error.code {
            case .pushCompletedWithErrors:
                let errors = error.pushResult?.errors ?? []
                return "\(errors.count) changes need attention"
            case .pushAbortedAuthentication:
                return "Sign in again"
            default:
                return error.isOffline ? "Offline" : error.message
            }
        } catch {
            return "Cancelled"
        }
    }

    func parkedOperations(of context: SyncContext) async throws -> [TableOperation] {
        try await context.pendingOperations().filter { $0.state == .parked }
    }

    func sendAgain(_ operation: TableOperation, in context: SyncContext) async throws {
        try await context.replay(operationID: operation.id)
        try await context.push()
    }

    private func context(
        _ server: TableServer, settings: SyncSettings = SyncSettings()
    ) throws -> SyncContext {
        SyncContext(
            client: SyncClient(url: server.url), dataSource: try MemoryStore(tables: [Self.todo]),
            settings: settings)
    }

    @Test func `a refused operation is parked and replayed`() async throws {
        try await withTableServer(.init(tables: [.init("TodoItem")])) { server in
            var settings = SyncSettings()
            settings.parkAfterRefusals = 3
            settings.maxConcurrentOperations = 4
            settings.retry.maxAttempts = 5

            let context = try context(server, settings: settings)
            try await context.table("TodoItem").insert(["text": "Buy milk"])
            server.onRequest { _ in .answer(status: 400, body: Data(#"{"error":"no"}"#.utf8)) }
            for _ in 0..<3 { #expect(await syncNow(context) == "1 changes need attention") }

            let status = try await context.status()
            print("\(status.pendingOperations) pending, \(status.parkedOperations) parked")

            #expect(status.parkedOperations == 1)
            server.onRequest(nil)
            let parked = try await parkedOperations(of: context)
            try await sendAgain(try #require(parked.first), in: context)
            #expect(await syncNow(context) == "0 changes sent")
        }
    }

    @Test func `a budget`() async throws {
        try await withTableServer(.init(tables: [.init("TodoItem")])) { server in
            let context = try context(server)
            try await context.table("TodoItem").insert(["text": "Buy milk"])

            let planned = try await context.plannedRequests()
            try await context.push(budget: PushBudget(operations: 100, duration: .seconds(20)))

            #expect(planned.map(\.kind) == [.insert])
            #expect(try await context.pendingOperationCount() == 0)
        }
    }
}
