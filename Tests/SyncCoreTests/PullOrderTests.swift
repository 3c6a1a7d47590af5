// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Testing

@_spi(StoreAuthor) @testable import SyncCore

/// Pulls from servers that sort, show or change their rows in unusual ways.
@Suite struct PullOrderTests {
    /// Evaluates filters, and sorts as it likes.
    private struct Server {
        var rows: [(id: String, time: Timestamp)]
        /// The ids of rows without `updatedAt`, which are the last.
        var undated: [String] = []
        /// Whether `$orderby=updatedAt,id` is evaluated to its first column only.
        var ignoresSecondKey = false
        /// Whether `$orderby` is ignored.
        var ignoresOrder = false
        /// Whether times are shown without the zeros at their end.
        var trimsZeros = false
        var cap = Int.max
        var date = PullOrderTests.time(seconds: 1_000_000)
        /// How long a response can be under way.
        var delay = Duration.zero

        func page(_ query: TableQuery) -> [PulledRow] {
            let dated = rows.map { Item(id: $0.id, system: SystemProperties(updatedAt: $0.time)) }
            let items = (dated + undated.map { Item(id: $0) })
                .filter { query.filter?.matches($0) ?? true }
            let first = query.orderings.first?.expression
            let sorted = items.sorted { left, right in
                if ignoresOrder { return right.id.precedesInBytes(left.id) }
                let (a, b) = (left.system.updatedAt, right.system.updatedAt)
                if first == .column("updatedAt"), (a == nil) != (b == nil) { return a != nil }
                guard first == .column("updatedAt"), let a, let b else {
                    return left.id.precedesInBytes(right.id)
                }
                if !a.isSameInstant(as: b) { return a.isEarlier(than: b) }
                return left.id.precedesInBytes(right.id) != ignoresSecondKey
            }
            return sorted.dropFirst(query.offset).prefix(min(query.limit ?? .max, cap)).map { item in
                let time = item.system.updatedAt.map(shown)
                return PulledRow(
                    item: Item(id: item.id, system: SystemProperties(updatedAt: time)),
                    updatedAtText: time?.description)
            }
        }

        private func shown(_ time: Timestamp) -> Timestamp {
            guard trimsZeros else { return time }
            return (0...9).lazy.map { time.showing(fractionDigits: $0) }.first { $0.isSameInstant(as: time) }
                ?? time
        }

        func pageTime() -> PageTime { PageTime(server: date, readAt: date.advanced(by: .zero - delay)) }
    }

    /// A client that stores the ids it has received, and the token.
    private struct Client {
        var ids: Set<String> = []
        var token: DeltaToken?
        /// The length of the longest filter that was requested.
        var longestFilter = 0

        /// Pulls to the end, or at most that many pages.
        mutating func pull(
            from server: inout Server, pageSize: Int = 5, order: PullCursor.Order = .keyset,
            maxPages: Int = 500,
            beforePage: (inout Server) -> Void = { _ in }
        ) throws -> Int {
            var settings = PullSettings()
            settings.pageSize = pageSize
            var cursor = PullCursor(query: TableQuery("T"), order: order, settings: settings, token: token)
            var pages = 0
            while !cursor.isDone, pages < maxPages {
                beforePage(&server)
                let query = cursor.nextPage
                longestFilter = max(longestFilter, query.filter.map { "\($0)".utf8.count } ?? 0)
                let page = server.page(query)
                try cursor.advance(over: page, at: server.pageTime())
                ids.formUnion(page.map(\.item.id))
                token = cursor.token
                pages += 1
            }
            return pages
        }
    }

    private static func time(seconds: Int64, nanoseconds: Int64 = 0) -> Timestamp {
        Timestamp.unixEpoch.showing(fractionDigits: 9).advanced(by: .seconds(seconds))
            .advanced(by: .nanoseconds(nanoseconds))
    }

    private static func rows(_ count: Int, perInstant: Int) -> [(id: String, time: Timestamp)] {
        (0..<count).map { ("r\($0 * 7919 % 10_007)", time(seconds: Int64($0 / perInstant))) }
    }

    @Test(arguments: [1, 3, 20, 60], [2, 5, 7, 100])
    func `no row is missed when the server sorts by updatedAt only, wherever the first pull is interrupted`(
        _ perInstant: Int, _ pageSize: Int
    ) throws {
        var server = Server(rows: Self.rows(60, perInstant: perInstant), ignoresSecondKey: true)
        for pages in 1...20 {
            var client = Client()
            _ = try client.pull(from: &server, pageSize: pageSize, maxPages: pages)
            _ = try client.pull(from: &server, pageSize: pageSize)
            // A page that ends at the first row of an instant shows no order.
            if perInstant > pageSize || pageSize > 60 || perInstant == 1 {
                #expect(client.ids == Set(server.rows.map(\.id)), "\(pages) pages")
            }
            #expect(try client.pull(from: &server, pageSize: pageSize) == 1)
        }
    }

    @Test(arguments: [PullCursor.Order.keyset, .id], [5, 7, 100])
    func `no row is missed when the server ignores the order and caps its pages`(
        _ order: PullCursor.Order, _ cap: Int
    ) throws {
        var server = Server(rows: Self.rows(23, perInstant: 1), ignoresOrder: true, cap: cap)
        var client = Client()
        _ = try client.pull(from: &server, pageSize: 50, order: order)
        #expect(client.ids == Set(server.rows.map(\.id)))
    }

    @Test func `rows that a server sorts by updatedAt only are read again until its clock is later`() throws {
        var server = Server(rows: Self.rows(6, perInstant: 6), ignoresSecondKey: true)
        server.date = Self.time(seconds: 0)
        var client = Client()
        _ = try client.pull(from: &server)
        server.rows.append(("a", Self.time(seconds: 0)))
        _ = try client.pull(from: &server)
        #expect(client.ids == Set(server.rows.map(\.id)))
    }

    @Test(arguments: [PullCursor.Order.keyset, .skip])
    func `no row is missed when the server ignores the order, and the next pull starts over`(
        _ order: PullCursor.Order
    ) throws {
        var server = Server(rows: Self.rows(123, perInstant: 1), ignoresOrder: true)
        server.date = Self.time(seconds: 50)
        for _ in 0..<2 {
            var client = Client()
            let pages = try client.pull(from: &server, order: order) { server in
                // Rows change all over the table.
                server.date = server.date.advanced(by: .seconds(2))
                server.rows[60].time = server.date
            }
            #expect(pages < 60)
            #expect(client.ids == Set(server.rows.map(\.id)))
            #expect(client.token == nil)
        }
    }

    @Test(arguments: [PullCursor.Order.keyset, .skip], [1, 5])
    func `a pull of a table that changes faster than it is read ends, and the next one continues`(
        _ order: PullCursor.Order, _ changes: Int
    ) throws {
        var server = Server(rows: Self.rows(200, perInstant: 1))
        server.date = Self.time(seconds: 300)
        var (client, number) = (Client(), 0)
        let pages = try client.pull(from: &server, order: order) { server in
            for _ in 0..<changes {
                number += 1
                server.date = server.date.advanced(by: .milliseconds(10))
                server.rows.append(("new\(number)", server.date))
            }
            server.date = server.date.advanced(by: .milliseconds(400))
        }
        #expect(pages < 300)
        #expect(client.ids.isSuperset(of: server.rows.prefix(200).map(\.id)))
        server.date = server.date.advanced(by: .seconds(10))
        _ = try client.pull(from: &server, order: order)
        #expect(client.ids == Set(server.rows.map(\.id)))
    }

    @Test(arguments: [1, 2, 100], [PullCursor.Order.keyset, .id])
    func `rows with ids that would make a request too long do not stop a pull`(
        _ pageSize: Int, _ order: PullCursor.Order
    ) throws {
        let (long, longer) = (String(repeating: "b", count: 9000), String(repeating: "d", count: 9001))
        let time = Self.time(seconds: 1)
        var server = Server(rows: [("a", time), (long, time), ("c", time), (longer, Self.time(seconds: 2))])
        server.rows.append(("e", Self.time(seconds: 3)))
        server.undated = [long + "x", "n", longer + "x", "z"]
        // A page of one row does not show that the server ignores it.
        for ignoresSecondKey in pageSize == 1 ? [false] : [false, true] {
            server.ignoresSecondKey = ignoresSecondKey
            var client = Client()
            for _ in 0..<2 {
                _ = try client.pull(from: &server, pageSize: pageSize, order: order) { _ in }
            }
            #expect(client.ids.isSuperset(of: ["a", "c", "e", "n", "z"]))
            #expect(client.longestFilter < 1000)
        }
    }

    @Test func `slow responses do not end the pull of a table that does not change`() throws {
        var server = Server(rows: Self.rows(200, perInstant: 1))
        (server.date, server.delay) = (Self.time(seconds: 201), .seconds(300))
        var client = Client()
        _ = try client.pull(from: &server, pageSize: 5) { server in
            server.date = server.date.advanced(by: .seconds(20))
        }
        #expect(client.ids == Set(server.rows.map(\.id)))
    }

    @Test(arguments: [[], ["n", "o"]], [1, 5])
    func `a pull ends while one row changes before every page, and has the rows without updatedAt`(
        _ undated: [String], _ pageSize: Int
    ) throws {
        var server = Server(rows: Self.rows(10, perInstant: 1), undated: undated)
        server.date = Self.time(seconds: 300)
        var client = Client()
        let pages = try client.pull(from: &server, pageSize: pageSize) { server in
            server.date = server.date.advanced(by: .milliseconds(400))
            server.rows[0].time = server.date
        }
        #expect(pages < 60)
        #expect(client.ids == Set(server.rows.map(\.id) + undated))
    }

    @Test func `a pull ends while one row changes before every page, also with times ahead of the responses`()
        throws
    {
        var server = Server(rows: Self.rows(10, perInstant: 1))
        server.date = Self.time(seconds: 300)
        var client = Client()
        let pages = try client.pull(from: &server, pageSize: 5) { server in
            server.date = server.date.advanced(by: .seconds(1))
            server.rows[0].time = server.date.advanced(by: .seconds(5))
        }
        #expect(pages < 2000)
        #expect(client.ids == Set(server.rows.map(\.id)))
    }

    @Test(arguments: [PullCursor.Order.keyset, .skip])
    func `a long pull goes on to an empty page while rows change now and then`(_ order: PullCursor.Order)
        throws
    {
        var server = Server(rows: Self.rows(200, perInstant: 1))
        server.date = Self.time(seconds: 300)
        var (client, number) = (Client(), 0)
        _ = try client.pull(from: &server, order: order) { server in
            server.date = server.date.advanced(by: .seconds(10))
            guard number < 40 else { return }
            number += 1
            server.rows.append(("new\(number)", server.date))
        }
        #expect(client.ids == Set(server.rows.map(\.id)))
    }

    @Test(arguments: [1, 2, 5])
    func `no row is missed when the server shows times without the zeros at their end`(_ pageSize: Int) throws
    {
        var server = Server(rows: [], trimsZeros: true)
        var client = Client()
        let steps: [Int64] = [120_000_000, 123_400_000, 125_000_000, 129_999_999, 130_000_000]
        for (number, step) in steps.enumerated() {
            server.date = Self.time(seconds: 0, nanoseconds: step)
            for id in ["\(9 - number)", "\(number)b", "\(number)a"] {
                server.rows.append((id, server.date))
                _ = try client.pull(from: &server, pageSize: pageSize)
                #expect(client.ids == Set(server.rows.map(\.id)))
            }
        }
    }
    @Test func `a row that was read with the rows of a shorter instant is no repeated page`() throws {
        // `.12` stands for all times until `.13`.
        let rows = [("m", 120_000_000), ("a", 125_000_000), ("c", 126_000_000)]
        var server = Server(
            rows: rows.map { ($0, Self.time(seconds: 0, nanoseconds: Int64($1))) }, trimsZeros: true)
        var (client, pages) = (Client(), 0)
        _ = try client.pull(from: &server) { server in
            pages += 1
            server.date = pages == 1 ? server.rows[0].time : Self.time(seconds: 5)
            server.cap = pages < 3 ? 1 : 3
        }
        #expect(client.ids == ["m", "a", "c"])
    }
}
