// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import Synchronization
import TableServer
import Testing

/// Server errors to the query that asks for rows without `updatedAt`, which the server sorts last.
@Suite struct UndatedRowPullTests {
    private static func asksForUndated(_ request: RecordedRequest) -> Bool {
        request.isPage && request.query.contains("null")
    }

    /// A page with the row without `updatedAt`, unless the request is for the rows behind it.
    private static func undatedPage(_ request: RecordedRequest) -> ServerFault {
        let isAfter = request.query.contains("undated")
        return .answer(
            status: 200, headers: ["Content-Type": "application/json"],
            body: Data((isAfter ? "[]" : #"[{"id":"undated","text":"late"}]"#).utf8))
    }

    /// Four times, with two retries each, the query counts as refused.
    @Test(arguments: StoreKind.allCases)
    func `rows without updatedAt are pulled after server errors that end with a restart`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind, rows: 1) { scenario, a in
            let count = Mutex(0)
            scenario.server.onRequest { request in
                guard Self.asksForUndated(request) else { return .none }
                let isFailing = count.withLock { count in
                    count += 1
                    return count <= 12
                }
                return isFailing ? .refusal(500) : Self.undatedPage(request)
            }
            try await a.context.pull(Todo.query, queryID: "all")
            #expect(try await a.texts() == ["0", "late"])
            // The next pull does not ask for them again.
            let requests = count.withLock(\.self)
            #expect(try await a.context.pull(Todo.query, queryID: "all").received == 0)
            #expect(count.withLock(\.self) == requests)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a server that fails for each null test is pulled without it`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind, rows: 3) { scenario, a in
            scenario.server.onRequest { Self.asksForUndated($0) ? .refusal(500) : .none }
            try await a.context.pull(Todo.query, queryID: "all", settings: .pages(of: 1))
            #expect(try await a.texts() == ["0", "1", "2"])
            // After four failures, and once more when the server has answered without the test; each with two retries.
            #expect(scenario.server.requests.count(where: Self.asksForUndated) == 15)
        }
    }
}
