// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import Synchronization
import TableServer
import TestSupport
import Testing

/// The server's count of the rows to pull: ``PullResult/total``.
@Suite struct PullTotalTests {
    private func pullTotals(
        _ device: Device, _ query: TableQuery = Todo.query, queryID: String? = nil
    ) async throws -> [Int?] {
        var settings = PullSettings.pages(of: 10)
        settings.requestsTotal = true
        var totals: [Int?] = []
        for try await progress in device.context.pulling(query, queryID: queryID, settings: settings) {
            totals.append(progress.total)
        }
        return totals
    }

    @Test(arguments: StoreKind.allCases)
    func `only the first request of a pull asks for the total`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind, rows: 25) { scenario, a in
            #expect(try await pullTotals(a, queryID: "all") == [25, 25, 25, 25])
            let counted = scenario.server.requests.filter { $0.query.contains("inlinecount") }
            #expect(counted.count == 1 && scenario.server.requests.first?.query == counted.first?.query)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `rows that a pull reads twice do not change the total`(_ kind: StoreKind) async throws {
        // By the server's clock, other rows may still get the times of these.
        try await Scenario.run(on: kind, configure: { $0.clock = .standing(at: .unixEpoch) }) { scenario in
            for number in 0..<25 {
                scenario.server.clock.advance(by: .milliseconds(3))
                try await scenario.server.put("row-\(number * 7 % 25)", ["text": "new"], in: Todo.name)
            }
            let a = try scenario.device("A")
            let totals = try await pullTotals(a, queryID: "all")
            #expect(totals.allSatisfy { $0 == 25 })
            #expect(totals.count > 4)
            try await scenario.expectAgreement(a)
        }
    }

    @Test func `an incremental pull counts the rows that it receives`() async throws {
        try await Scenario.run(on: .memory, rows: 25) { scenario, a in
            _ = try await pullTotals(a, queryID: "all")
            scenario.server.clock.advance(by: .seconds(1))
            for number in 0..<3 {
                try await scenario.server.update("row-\(number)", ["text": "new"], in: Todo.name)
            }
            let totals = try await pullTotals(a, queryID: "all")
            #expect(totals.first == 3)
        }
    }

    @Test func `the offset and the limit of a pull are part of its total`() async throws {
        try await Scenario.run(on: .memory, rows: 25) { _, a in
            let query = Todo.query.order(by: "text")
            let limited = try await pullTotals(a, query.limit(12))
            let end = try await pullTotals(a, query.offset(20))
            let behindEnd = try await pullTotals(a, query.offset(30))
            #expect(limited.first == 12 && end.last == 5 && behindEnd.allSatisfy { $0 == 0 })
        }
    }

    @Test func `the total of a pull with an offset has no tombstones from before the offset`() async throws {
        try await Scenario.run(on: .memory, rows: 25) { scenario, a in
            for id in ["row-1", "row-10"] { try await scenario.server.remove(id, in: Todo.name) }
            let totals = try await pullTotals(a, Todo.query.order(by: "text").offset(12))
            #expect(totals.first == 13 && totals.last == 11)
        }
    }

    @Test func `a pull does not ask for the total by default`() async throws {
        try await Scenario.run(on: .memory, rows: 5) { scenario, a in
            let result = try await a.context.pull(Todo.query, queryID: "all")
            #expect(result.total == nil)
            #expect(!scenario.server.requests.contains { $0.query.contains("inlinecount") })
        }
    }

    @Test func `a total that the server returns too low is withdrawn, and does not end the pull`()
        async throws
    {
        try await Scenario.run(on: .memory, rows: 25) { scenario, a in
            scenario.server.onRequest { request in
                guard request.query.contains("inlinecount") else { return .none }
                let row = #"{"id":"row-0","text":"a","updatedAt":"1970-01-01T00:00:00.001Z","version":"1"}"#
                let body = #"{"results":[\#(row)],"count":1}"#
                return .answer(status: 200, body: Data(body.utf8))
            }
            let totals = try await pullTotals(a)
            #expect(totals.first == 1)
            #expect(totals.last == .some(nil))
            #expect(try await a.table.items().count == 25)
        }
    }

    @Test func `a server that refuses to count is asked for the rows alone`() async throws {
        try await Scenario.run(on: .memory, rows: 25) { scenario, a in
            scenario.server.onRequest { request in
                guard request.query.contains("inlinecount") else { return .none }
                return .answer(status: 400, body: Data(#"{"error":"$inlinecount is not supported"}"#.utf8))
            }
            #expect(try await pullTotals(a, queryID: "all") == [nil, nil, nil, nil])
            try await scenario.expectAgreement(a)
        }
    }
}
