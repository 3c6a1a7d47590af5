// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import StoreMemory
import Synchronization
import Testing

@_spi(StoreAuthor) @testable import SyncCore

/// A first pull includes rows without `updatedAt`, whether the server sorts them first or last.
@Suite struct UndatedRowTests {
    private enum Nulls: CaseIterable { case first, last }

    /// A server that is a list, and sorts nulls first or last; `nil` does not sort by `updatedAt` at all.
    private struct Server {
        var rows: [Item]
        var nulls: Nulls?
        var filtersNulls = true

        func page(_ query: TableQuery) -> [PulledRow]? {
            if !filtersNulls, let filter = query.filter, "\(filter)".contains("nullTest") { return nil }
            var query = query
            let (limit, offset) = (query.limit ?? .max, query.offset)
            (query.limit, query.offset) = (nil, 0)
            var items = query.apply(to: rows).items
            if query.orderings.first?.expression == .column("updatedAt") {
                switch nulls {
                case .first: break
                case .last:
                    items =
                        items.filter { $0.system.updatedAt != nil }
                        + items.filter { $0.system.updatedAt == nil }
                case nil: items = rows.filter { query.filter?.matches($0) ?? true }
                }
            }
            return items.dropFirst(offset).prefix(limit).map {
                PulledRow(item: $0, updatedAtText: $0.system.updatedAt?.description)
            }
        }
    }

    private static let now = Timestamp.unixEpoch.advanced(by: .seconds(1_000_000_000))

    private static func rows(dated: Int, undated: Int) -> [Item] {
        (0..<dated).map { number in
            let updatedAt = Timestamp.unixEpoch.advanced(by: .milliseconds(number))
            return Item(id: "d\(number)", system: SystemProperties(updatedAt: updatedAt))
        } + (0..<undated).map { Item(id: "u\($0)") }
    }

    private static func cursor(
        _ token: DeltaToken? = nil, _ order: PullCursor.Order = .keyset, pageSize: Int = 10
    ) -> PullCursor {
        var settings = PullSettings()
        settings.pageSize = pageSize
        return PullCursor(query: TableQuery("T"), order: order, settings: settings, token: token)
    }

    private static func pull(
        _ cursor: inout PullCursor, from server: Server, maxPages: Int = 100
    ) throws -> (ids: [String], pages: Int) {
        var (ids, pages) = ([String](), 0)
        while !cursor.isDone, pages < maxPages {
            pages += 1
            guard let page = server.page(cursor.nextPage) else {
                #expect(cursor.hasAlternative)
                cursor.advanceOverRefusal()
                continue
            }
            try cursor.advance(over: page, at: PageTime(server: now, readAt: now))
            ids += page.map(\.item.id)
        }
        return (ids, pages)
    }

    @Test(arguments: [0, 1, 9, 10, 11, 35], [0, 1, 9, 10, 11, 35])
    func `all rows are pulled, and the next pull is one request`(_ dated: Int, _ undated: Int) throws {
        for nulls in Nulls.allCases {
            let server = Server(rows: Self.rows(dated: dated, undated: undated), nulls: nulls)
            var cursor = Self.cursor()
            let (ids, _) = try Self.pull(&cursor, from: server)
            #expect(Set(ids) == Set(server.rows.map(\.id)))
            // Only the rows of the page on which the first undated one is are received twice.
            #expect(ids.count <= server.rows.count + 10)
            #expect(ids.count { $0.hasPrefix("d") } == dated)
            guard let token = cursor.token else { continue }
            #expect(!token.isFirstPull)
            var next = Self.cursor(token)
            let (again, pages) = try Self.pull(&next, from: server)
            #expect(again.isEmpty)
            #expect(pages == 1)
        }
    }

    /// A server that sorts by `updatedAt` only, or by nothing. Some rows have no id.
    @Test(arguments: [
        ["d0", "u0", "u2", "u1"], ["d0", "u2", "u1", "u0"], ["d0", "u0", "d1", "u1"],
        ["u1", "d0", "d1", "u0"], ["u0", "", "d0", "d1"], ["", "", "u0", "u1", "d0", "d1"],
    ])
    func `undated rows are pulled in whatever order the server returns them`(_ ids: [String]) throws {
        for pageSize in [2, 3, 10] {
            let rows = Self.rows(dated: 2, undated: 3)
            let server = Server(
                rows: ids.map { id in rows.first { $0.id == id } ?? Item(id: id) }, nulls: nil)
            var cursor = Self.cursor(pageSize: pageSize)
            #expect(try Set(Self.pull(&cursor, from: server).ids) == Set(ids))
        }
    }

    @Test func `a pull without undated rows sends no additional request`() throws {
        for (count, pages) in [(0, 1), (5, 2), (10, 2), (25, 4)] {
            for nulls in Nulls.allCases {
                var cursor = Self.cursor()
                let server = Server(rows: Self.rows(dated: count, undated: 0), nulls: nulls)
                #expect(try Self.pull(&cursor, from: server).pages == pages)
            }
        }
    }

    @Test func `undated rows are pulled after a pull with skip, which does not request them`() throws {
        for nulls in Nulls.allCases {
            let server = Server(rows: Self.rows(dated: 25, undated: 15), nulls: nulls)
            var skipping = Self.cursor(nil, .skip)
            let (first, _) = try Self.pull(&skipping, from: server)
            let token = skipping.token.flatMap { DeltaToken(storedText: $0.storedText(for: "q"), for: "q") }
            var next = Self.cursor(token)
            let (rest, _) = try Self.pull(&next, from: server)
            #expect(Set(first + rest) == Set(server.rows.map(\.id)))
            #expect(next.token?.isFirstPull == false)
        }
    }

    @Test func `undated rows are pulled after an interrupted first pull`() throws {
        let server = Server(rows: Self.rows(dated: 25, undated: 15), nulls: .last)
        var cursor = Self.cursor()
        let (first, _) = try Self.pull(&cursor, from: server, maxPages: 2)
        var token = cursor.token
        token = token.flatMap { DeltaToken(storedText: $0.storedText(for: "q"), for: "q") }
        #expect(token?.isFirstPull == true)
        var next = Self.cursor(token)
        let (rest, _) = try Self.pull(&next, from: server)
        #expect(Set(first + rest) == Set(server.rows.map(\.id)))
        #expect((first + rest).count { $0.hasPrefix("d") } == 25)
    }

    @Test
    func
        `a row that gets its first updatedAt between two pages is pulled, if the server cannot filter by null`()
        throws
    {
        var server = Server(rows: Self.rows(dated: 0, undated: 10), nulls: .first, filtersNulls: false)
        server.rows.append(
            Item(id: "later", system: SystemProperties(updatedAt: Self.now.advanced(by: .seconds(-9)))))
        var cursor = Self.cursor()
        let (first, _) = try Self.pull(&cursor, from: server, maxPages: 1)
        #expect(first.contains("u3"))
        let moved = try #require(server.rows.firstIndex { $0.id == "u3" })
        server.rows[moved].system.updatedAt = Self.now.advanced(by: .seconds(-10))
        let (rest, _) = try Self.pull(&cursor, from: server)
        #expect(rest.contains("u3"))
        #expect(cursor.token?.id == "later")
    }

    @Test(arguments: [0, 5, 10, 35], [0, 5, 10, 35])
    func `a server that cannot filter by null is pulled as far as possible`(_ dated: Int, _ undated: Int)
        throws
    {
        var server = Server(rows: Self.rows(dated: dated, undated: undated), nulls: .first)
        server.filtersNulls = false
        var cursor = Self.cursor()
        let (ids, _) = try Self.pull(&cursor, from: server)
        #expect(Set(ids) == Set(server.rows.map(\.id)))
        server.nulls = .last
        cursor = Self.cursor()
        let (some, _) = try Self.pull(&cursor, from: server)
        #expect(Set(some).isSuperset(of: server.rows.filter { $0.system.updatedAt != nil }.map(\.id)))
    }

    @Test
    func
        `a row with updatedAt is pulled after the deletion of a row without, if the server cannot filter by null`()
        throws
    {
        var server = Server(rows: Self.rows(dated: 1, undated: 10), nulls: .first, filtersNulls: false)
        var cursor = Self.cursor()
        _ = try Self.pull(&cursor, from: server, maxPages: 1)
        server.rows.removeAll { $0.id == "u3" }
        let (rest, _) = try Self.pull(&cursor, from: server)
        #expect(rest.contains("d0"))
        #expect(cursor.token?.id == "d0")
    }

    /// Pulls a row with `updatedAt` and one without, which the server returns after that many failures, and returns their
    /// ids.
    private func pull(failing count: Int, status: Int) async throws -> [String] {
        let requests = Mutex(0)
        let transport = ScriptedTransport { request in
            let number = requests.withLock { number in
                defer { number += 1 }
                return number
            }
            let asksForUndated = request.head.path?.contains("null") == true
            let body =
                switch number {
                case 0: #"[{"id":"a","updatedAt":"2020-01-01T00:00:00.000Z"}]"#
                case 1...count: #"{"error":"no"}"#
                case count + 1: asksForUndated ? #"[{"id":"undated"}]"# : "[]"
                default: "[]"
                }
            let status = (1...count).contains(number) ? status : 200
            return HTTPTransportResponse(
                status: HTTPResponse.Status(code: status), headerFields: [:], body: Data(body.utf8))
        }
        let table = SyncTableDefinition("T", columns: [])
        var settings = SyncSettings()
        settings.retry.maxAttempts = 1
        let context = SyncContext(
            client: try SyncClient.scripted(transport), dataSource: try MemoryStore(tables: [table]),
            settings: settings, environment: .inline)
        var pages = PullSettings()
        pages.pageSize = 1
        try await context.pull(TableQuery("T"), queryID: "all", settings: pages)
        return try await context.table("T").items().map(\.id)
    }

    @Test(arguments: 1...3, [400, 403, 500]) func `a few failures do not leave out undated rows`(
        _ failures: Int, _ status: Int
    ) async throws {
        #expect(try await pull(failing: failures, status: status) == ["a", "undated"])
    }

    @Test(arguments: [400, 500]) func `a server that refuses a filter by null is pulled without it`(
        _ status: Int
    ) async throws {
        #expect(try await pull(failing: 4, status: status) == ["a"])
    }
}
