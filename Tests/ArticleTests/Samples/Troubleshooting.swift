// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logging
import StoreConformance
import StoreMemory
import SyncCore
import TableServer
import Testing

/// The samples of the article "Troubleshooting".
struct TroubleshootingSamples {
    @Test func `what to print`() async throws {
        let table = SyncTableDefinition("TodoItem", columns: [SyncColumn("text", .text)])
        try await withTableServer(.init(tables: [.init("TodoItem")])) { server in
            let url = server.url

            var logger = Logger(label: "sync")
            logger.logLevel = .debug
            let client = SyncClient(url: url, logger: logger)

            let context = SyncContext(client: client, dataSource: try MemoryStore(tables: [table]))
            try await context.table("TodoItem").insert(["text": "Buy milk"])

            for operation in try await context.pendingOperations() {
                print(operation.id, operation.kind, operation.table, operation.itemID, operation.state)
            }
            for error in try await context.operationErrors() {
                print(error.operationID, error.code, error.message)
            }
            for request in try await context.plannedRequests() {
                print(request.operationID, request.kind, request.fields.keys.sorted())
            }

            #expect(try await context.pendingOperationCount() == 1)
        }
    }

    @Test func `a full disk`() async throws {
        let table = SyncTableDefinition("TodoItem", columns: [SyncColumn("text", .text)])
        let store = FaultingStore(try MemoryStore(tables: [table]))
        store.faults.error = StoreError(.full, "The disk is full.")
        store.faults.failingCommit = 1
        let url = try #require(URL(string: "https://example.com"))
        let context = SyncContext(client: SyncClient(url: url), dataSource: store)
        var printed: [String] = []
        func print(_ text: String) { printed.append(text) }

        do {
            try await context.table("TodoItem").insert(["text": "Buy milk"])
        } catch let error as SyncError where (error.cause as? StoreError)?.code == .full {
            print("The device has no free space.")
        }

        #expect(printed == ["The device has no free space."])
    }
}
