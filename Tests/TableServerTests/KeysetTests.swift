// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import SyncCore
import TableServer
import Testing

/// The pages of incremental pulls.
@Suite(.onEachStorage)
struct KeysetTests {
    /// Fetches all pages with the filter `updatedAt gt T or (updatedAt eq T and id gt I)`, and returns the ids.
    private func pull(_ client: TestClient, top: Int, userFilter: String? = nil) async throws -> [String] {
        var ids: [String] = []
        var filter = userFilter
        while true {
            var parameters = [("$orderby", "updatedAt,id"), ("$top", "\(top)"), ("__includeDeleted", "true")]
            if let filter { parameters.append(("$filter", filter)) }
            let page = try await client.list("TodoItem", parameters).items
            guard let last = page.last, let time = last["updatedAt"]?.textValue,
                let id = last["id"]?.textValue
            else { return ids }
            ids += page.compactMap { $0["id"]?.textValue }
            let literal = "datetimeoffset'\(time)'"
            let quoted = "'\(id.replacing("'", with: "''"))'"
            let keyset = "updatedAt gt \(literal) or (updatedAt eq \(literal) and id gt \(quoted))"
            filter = userFilter.map { "(\($0)) and (\(keyset))" } ?? keyset
        }
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func `every row is fetched once and in order, also with equal times and unusual ids`(_ seed: UInt64)
        async throws
    {
        var generator = SeededGenerator(seed: seed)
        let alphabet = ["a", "b", "B", "é", "e\u{301}", "'", "/", " ", "日"]
        try await withServer { server, client in
            var expected: [(at: Int, id: String)] = []
            for n in 0..<120 {
                let id =
                    (0..<3).map { _ in alphabet.randomElement(using: &generator) ?? "" }.joined() + "\(n % 7)"
                guard !expected.contains(where: { Array($0.id.utf8) == Array(id.utf8) }) else { continue }
                let milliseconds = Int.random(in: 0..<6, using: &generator)
                let time = try #require(
                    Timestamp(
                        seconds: Timestamp.noon.seconds, nanoseconds: Int32(milliseconds) * 1_000_000))
                try await server.put(id, ["n": .int(Int64(n % 3))], in: "TodoItem", updatedAt: time)
                if n % 5 == 0 { try await server.remove(id, in: "TodoItem", updatedAt: time) }
                expected.append((milliseconds, id))
            }
            expected.sort { $0.at == $1.at ? $0.id.precedes($1.id) : $0.at < $1.at }
            let pulled = try await pull(client, top: Int.random(in: 1..<20, using: &generator))
            #expect(pulled.map { Array($0.utf8) } == expected.map { Array($0.id.utf8) })

            let filtered = try await pull(client, top: 7, userFilter: "n eq 1 or n eq 2")
            let matchingCount = try server.rows(in: "TodoItem").filter { $0.fields["n"] != 0 }.count
            #expect(filtered.count == matchingCount)
            #expect(Set(filtered.map { Array($0.utf8) }).count == matchingCount)
        }
    }

    @Test func `ten thousand rows with one time are fetched once each, in two hundred pages`() async throws {
        try await withServer { server, client in
            try await server.put(
                (0..<10_000).map { n in (id: "\(n * 7919 % 10_007)", fields: ["n": .int(Int64(n))]) },
                in: "TodoItem")
            let ids = try await pull(client, top: 50)
            #expect(ids.count == 10_000)
            #expect(Set(ids).count == 10_000)
            #expect(server.requests.count == 201)
        }
    }

    @Test func `an incremental pull can page with skip`() async throws {
        try await withServer { server, client in
            for n in 0..<5 { try await server.put("\(n)", [:], in: "TodoItem") }
            let filter = "(1 eq 1) and (updatedAt ge datetimeoffset'2024-05-30T12:00:00.000Z')"
            let reply = try await client.list(
                "TodoItem",
                [("$filter", filter), ("$orderby", "updatedAt"), ("$skip", "3"), ("$top", "50")])
            #expect(reply.ids == ["3", "4"])
        }
    }
}

extension String {
    fileprivate func precedes(_ other: String) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }
}
