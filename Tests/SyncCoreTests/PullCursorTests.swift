// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Testing

@_spi(StoreAuthor) @testable import SyncCore

/// The pages that a pull requests from a server that is a sorted list.
@Suite struct PullCursorTests {
    /// A row as the server stores it, with nanoseconds.
    private struct Row: Hashable {
        var id: String
        var time: Timestamp
    }

    /// Evaluates queries on its rows, and shows fewer digits of their times than it stores.
    private struct Server {
        var rows: [Row]
        var shownDigits = 9
        var cap = Int.max
        /// The date of its responses.
        var date: Timestamp?

        func page(_ query: TableQuery) -> [PulledRow] {
            let items = rows.map { Item(id: $0.id, system: SystemProperties(updatedAt: $0.time)) }
            var capped = query
            capped.limit = min(query.limit ?? .max, cap)
            return capped.apply(to: items).items.map { item in
                let shown = item.system.updatedAt?.showing(fractionDigits: shownDigits)
                let system = SystemProperties(updatedAt: shown)
                return PulledRow(item: Item(id: item.id, system: system), updatedAtText: shown?.description)
            }
        }
    }

    /// The client's clock, long after all rows.
    private static let now = Timestamp.unixEpoch.advanced(by: .seconds(1_000_000_000))

    private static func time(_ nanoseconds: Int64) -> Timestamp {
        Timestamp.unixEpoch.showing(fractionDigits: 9).advanced(by: .nanoseconds(nanoseconds))
    }

    private func cursor(
        _ order: PullCursor.Order = .keyset, pageSize: Int = 10, overlap: Duration = .zero,
        limit: Int? = nil, token: DeltaToken? = nil
    ) -> PullCursor {
        var settings = PullSettings()
        (settings.pageSize, settings.overlap) = (pageSize, overlap)
        var query = TableQuery("T")
        query.limit = limit
        return PullCursor(query: query, order: order, settings: settings, token: token)
    }

    /// Pulls to the end, or at most that many pages, and returns the ids in the order of arrival.
    private func pull(_ cursor: inout PullCursor, from server: Server, maxPages: Int = 500) throws -> (
        ids: [String], pages: Int
    ) {
        var (ids, pages) = ([String](), 0)
        while !cursor.isDone, pages < maxPages {
            let page = server.page(cursor.nextPage)
            try cursor.advance(over: page, at: PageTime(server: server.date, readAt: server.date ?? Self.now))
            ids += page.map(\.item.id)
            pages += 1
        }
        return (ids, pages)
    }

    private func rows(_ count: Int, spacing: Int64) -> [Row] {
        (0..<count).map { Row(id: "r\($0 * 7919 % 10_007)", time: Self.time(Int64($0) * spacing)) }
    }

    @Test(arguments: [0, 1, 9, 10, 11, 20, 55], [Int64(0), 1, 400, 1_000_000])
    func `every row is pulled exactly once, however close their times are`(_ count: Int, _ spacing: Int64)
        throws
    {
        var cursor = cursor()
        let rows = rows(count, spacing: spacing)
        let (ids, pages) = try pull(&cursor, from: Server(rows: rows))
        #expect(ids.sorted() == rows.map(\.id).sorted())
        #expect(cursor.isDone)
        #expect(pages <= count / 10 + 2)
    }

    @Test(arguments: [3, 6, 7], [Int64(0), 1, 300, 400_000])
    func `no row is missed when the server shows fewer digits than it stores, and the pull ends`(
        _ digits: Int, _ spacing: Int64
    ) throws {
        let server = Server(rows: rows(64, spacing: spacing), shownDigits: digits)
        for order in [PullCursor.Order.keyset, .skip] {
            var cursor = cursor(order)
            let (ids, pages) = try pull(&cursor, from: server)
            #expect(Set(ids) == Set(server.rows.map(\.id)))
            #expect(pages < 60)
        }
    }

    @Test(arguments: [1, 3, 9, 10, 11, 200])
    func `no row is missed when the server caps pages below the page size`(
        _ cap: Int
    ) throws {
        let server = Server(rows: rows(64, spacing: 1_000_000), cap: cap)
        for order in [PullCursor.Order.keyset, .skip, .id, .offset] {
            var cursor = cursor(order, pageSize: 50)
            let (ids, _) = try pull(&cursor, from: server)
            #expect(Set(ids) == Set(server.rows.map(\.id)))
        }
    }

    @Test func `only an empty page ends a pull`() throws {
        var cursor = cursor()
        #expect(try pull(&cursor, from: Server(rows: rows(25, spacing: 1000))).pages == 4)
        cursor = self.cursor()
        #expect(try pull(&cursor, from: Server(rows: rows(20, spacing: 1000))).pages == 3)
        cursor = self.cursor()
        #expect(try pull(&cursor, from: Server(rows: rows(5, spacing: 1000))).pages == 2)
        cursor = self.cursor()
        #expect(try pull(&cursor, from: Server(rows: [])).pages == 1)
    }

    @Test
    func `the first page has no delta filter, the next asks for rows after the token or without updatedAt`()
        throws
    {
        var cursor = cursor()
        #expect(cursor.nextPage.filter == nil)
        #expect(cursor.nextPage.limit == 10)
        #expect(cursor.nextPage.offset == 0)
        let server = Server(rows: rows(10, spacing: 1000))
        try cursor.advance(over: server.page(cursor.nextPage), at: PageTime(server: nil, readAt: Self.now))
        let token = try #require(cursor.token)
        let later = Filter.any([
            .updatedAt(.greater, token.updatedAt),
            .all([.updatedAt(.equal, token.updatedAt), .id(.greater, token.id)]),
        ])
        #expect(cursor.nextPage.filter == .any([later, .nullTest(.column("updatedAt"))]))
        try cursor.advance(over: [], at: PageTime(server: nil, readAt: Self.now))
        #expect(cursor.isDone)
        #expect(cursor.token?.instant == .complete)
        cursor = self.cursor(token: cursor.token)
        let oneLater = token.updatedAt.advanced(by: .nanoseconds(1))
        #expect(cursor.nextPage.filter == .updatedAt(.greaterOrEqual, oneLater))
    }

    @Test func `the token keeps the server's own text and never moves back`() throws {
        let text = "2024-01-01T00:00:00.1000000Z"
        let late = try #require(Timestamp(text))
        var cursor = cursor(
            overlap: .seconds(60), token: DeltaToken(updatedAtText: text, updatedAt: late, id: "m"))
        let early = try #require(Timestamp("2023-12-31T23:59:30Z"))
        let row = PulledRow(
            item: Item(id: "a", system: SystemProperties(updatedAt: early)), updatedAtText: "\(early)")
        #expect(cursor.nextPage.filter.map { $0.matches(row.item) } == true)
        try cursor.advance(over: [row], at: PageTime(server: nil, readAt: Self.now))
        #expect(cursor.token?.updatedAtText == text)
        #expect(cursor.token?.id == "m")
    }

    @Test(arguments: [PullCursor.Order.keyset, .skip], [0, 1, 25])
    func `rows dated after their response are pulled each time and do not move the token`(
        _ order: PullCursor.Order, _ futureCount: Int
    ) throws {
        var server = Server(rows: rows(25, spacing: 1000))
        let newest = try #require(server.rows.last)
        server.date = newest.time
        let future = try #require(Timestamp("2099-01-01T00:00:00Z"))
        server.rows += (0..<futureCount).map { Row(id: "z\($0)", time: future) }
        var first = cursor(order)
        #expect(try Set(pull(&first, from: server).ids) == Set(server.rows.map(\.id)))
        #expect(first.token?.id == newest.id)

        server.rows.append(Row(id: "later", time: newest.time.advanced(by: .seconds(5))))
        server.date = newest.time.advanced(by: .seconds(9))
        var second = cursor(order, token: first.token)
        let received = try Set(pull(&second, from: server).ids).subtracting([newest.id])
        #expect(received == Set(["later"] + (0..<futureCount).map { "z\($0)" }))
        #expect(second.token?.id == "later")
    }

    @Test(arguments: [PullCursor.Order.keyset, .skip])
    func `the next pull finds rows that changed before a row dated after its response`(
        _ order: PullCursor.Order
    ) throws {
        func second(_ second: Int64) -> Timestamp { Self.time(second * 1_000_000_000) }
        var server = Server(rows: [Row(id: "future", time: second(10))], date: second(0))
        var first = cursor(order, pageSize: 1)
        try first.advance(
            over: server.page(first.nextPage),
            at: PageTime(server: server.date, readAt: server.date ?? Self.now))
        server.rows += [Row(id: "behind", time: second(5)), Row(id: "ahead", time: second(11))]
        for date in [second(20), nil] {
            server.date = date
            var first = first
            #expect(try !pull(&first, from: server).ids.contains("behind"))
            var next = cursor(order, pageSize: 1, token: first.token)
            #expect(try Set(pull(&next, from: server).ids) == ["future", "behind", "ahead"])
            #expect(next.token?.id == "ahead")
        }
    }

    @Test
    func `a row dated in the second of the response moves the token, a row of the next second does not`()
        throws
    {
        let server = Server(
            rows: [
                Row(id: "a", time: Self.time(7_999_999_999)), Row(id: "b", time: Self.time(8_000_000_000)),
            ], date: Self.time(7_000_000_000))
        for order in [PullCursor.Order.keyset, .skip] {
            var cursor = cursor(order)
            #expect(try Set(pull(&cursor, from: server).ids) == ["a", "b"])
            #expect(cursor.token?.id == "a")
        }
    }

    @Test(arguments: [1, 9, 10, 11, 20, 23]) func `a pull returns exactly as many rows as its limit`(
        _ limit: Int
    ) throws {
        for order in [PullCursor.Order.id, .offset] {
            var cursor = cursor(order, limit: limit)
            let (ids, _) = try pull(&cursor, from: Server(rows: rows(64, spacing: 1000)))
            #expect(ids.count == limit)
            #expect(Set(ids).count == limit)
        }
    }

    @Test func `a limit of zero sends no request`() throws { #expect(cursor(.id, limit: 0).isDone) }

    @Test func `the skip strategy asks for rows from the token on, and first from the epoch`() throws {
        var cursor = cursor(.skip)
        #expect(cursor.nextPage.filter == (.column("updatedAt") >= Timestamp.unixEpoch))
        let server = Server(rows: rows(10, spacing: 1_000_000))
        try cursor.advance(over: server.page(cursor.nextPage), at: PageTime(server: nil, readAt: Self.now))
        let newest = try #require(server.rows.last?.time)
        #expect(cursor.nextPage.filter == (.column("updatedAt") >= newest))
        #expect(cursor.nextPage.offset == 0)
        let same = (0..<10).map {
            PulledRow(
                item: Item(id: "\($0)", system: SystemProperties(updatedAt: newest)),
                updatedAtText: "\(newest)")
        }
        try cursor.advance(over: same, at: PageTime(server: nil, readAt: Self.now))
        #expect(cursor.nextPage.offset == 10)
    }

    @Test func `a stored token is read with its own binding only`() throws {
        let token = DeltaToken(
            updatedAtText: "2024-01-01T00:00:00.123Z",
            updatedAt: try #require(Timestamp("2024-01-01T00:00:00.123Z")),
            id: "a\"b\u{0}é")
        let text = token.storedText(for: "abc")
        #expect(DeltaToken(storedText: text, for: "abc") == token)
        #expect(DeltaToken(storedText: text, for: "abd") == nil)
        #expect(DeltaToken(storedText: "2024-01-01T00:00:00.123Z", for: "abc") == nil)
        #expect(DeltaToken.updatedAtText(inStoredText: text) == token.updatedAtText)
    }
}
