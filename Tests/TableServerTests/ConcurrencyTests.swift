// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import TestSupport
import Testing

@Suite(.onEachStorage)
struct ConcurrencyTests {
    @Test(arguments: [false, true])
    func `of eight concurrent updates with the same precondition one succeeds`(_ isInFile: Bool) async throws
    {
        try await withTemporaryDirectory { directory in
            let file = directory.appending(path: "rows.sqlite").path
            try await withServer({ if isInFile { $0.storage = .file(file) } }) { server, client in
                _ = try await client.insert(["id": "a", "n": 0])
                // All eight requests arrive at the gate before it opens.
                let gate = RequestGate()
                server.onRequest { _ in .hold(gate) }
                let clients = (0..<8).map { _ in TestClient(server) }
                let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                    for (n, client) in clients.enumerated() {
                        group.addTask {
                            try await client.patch("a", ["n": .int(Int64(n))], ifMatch: "\"MQ==\"").status
                        }
                    }
                    await gate.waitForArrivals(8)
                    gate.open()
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(statuses.sorted() == [200] + Array(repeating: 412, count: 7))
                #expect(try server.row("a", in: "TodoItem")?.version == "Mg==")
            }
        }
    }

    @Test func `concurrent inserts of the same id create one row`() async throws {
        try await withServer { server, client in
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for n in 0..<20 as Range<Int64> {
                    group.addTask { try await client.insert(["id": "a", "n": .int(n)]).status }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.sorted() == [201] + Array(repeating: 409, count: 19))
            #expect(try server.rows(in: "TodoItem").count == 1)
        }
    }
}
