// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable @_spi(StoreAuthor) import SyncCore

/// The next link of a list in the v3 dialect.
@Suite struct NextPageTests {
    @Test(arguments: [
        (#"{"items":[{"id":"a"}]}"#, NextPage.end), (#"{"items":[{"id":"a"}],"nextLink":null}"#, .end),
        (#"{"items":[{"id":"a"}],"nextLink":"$skip=1"}"#, .skipping(1)),
        (#"{"nextLink":"https://h/tables/T?$top=2&%24skip=3","items":[]}"#, .skipping(3)),
        (#"{"nextLink":"$skip=-1","items":[]}"#, .skipping(-1)),
        (#"{"nextLink":"$skip=9999999999","items":[]}"#, .unknown),
        (#"{"nextLink":"$skipToken=ab","items":[]}"#, .unknown),
        (#"{"nextLink":7,"items":[]}"#, .unknown), (#"[{"id":"a"}]"#, .unknown),
    ])
    func `a list without a next link is the last page`(_ body: String, _ next: NextPage) async throws {
        let call = RemoteCall(.query([], includesDeleted: false), table: "T")
        for (dialect, expected) in [(WireDialect.v3, next), (.v2, .unknown)] {
            let client = SyncClient(
                url: try #require(Self.url), transport: ScriptedTransport(200, body), dialect: dialect)
            #expect(try await client.send(call).nextPage == expected)
        }
    }

    private static let url = URLComponents(string: "http://localhost")?.url

    @Test func `the last page ends a pull without another request, unless it has the requested length`()
        throws
    {
        let now = Timestamp.unixEpoch.advanced(by: .seconds(1000))
        func row(_ number: Int) -> PulledRow {
            let updatedAt = Timestamp.unixEpoch.advanced(by: .milliseconds(number))
            return PulledRow(
                item: Item(id: "\(number)", system: SystemProperties(updatedAt: updatedAt)),
                updatedAtText: "\(updatedAt)")
        }
        for order in [PullCursor.Order.keyset, .id, .offset, .skip] {
            var settings = PullSettings()
            settings.pageSize = 3
            var cursor = PullCursor(query: TableQuery("T"), order: order, settings: settings, token: nil)
            try cursor.advance(over: (0..<3).map(row), next: .end, at: PageTime(server: now, readAt: now))
            #expect(!cursor.isDone)
            try cursor.advance(over: (3..<5).map(row), at: PageTime(server: now, readAt: now))
            #expect(!cursor.isDone)
            try cursor.advance(over: [row(5)], next: .end, at: PageTime(server: now, readAt: now))
            #expect(cursor.isDone)
        }
    }

    @Test(arguments: [PullCursor.Order.keyset, .id, .offset, .skip])
    func `an empty page with a link to the next one is not the end`(order: PullCursor.Order) throws {
        let now = Timestamp.unixEpoch.advanced(by: .seconds(1000))
        let rows = (0..<30).map { number in
            let updatedAt = Timestamp.unixEpoch.advanced(by: .milliseconds(number / 4))
            return Item(id: "\(number + 100)", system: SystemProperties(updatedAt: updatedAt))
        }
        // The server takes rows that the user may not see out of the page.
        let visible = Set([0, 1, 12, 13, 14, 16, 27, 29].map { rows[$0].id })
        var settings = PullSettings()
        settings.pageSize = 3
        var cursor = PullCursor(query: TableQuery("T"), order: order, settings: settings, token: nil)
        var received: Set<String> = []
        while !cursor.isDone {
            let query = cursor.nextPage
            var rest = query
            rest.limit = nil
            let matching = rest.apply(to: rows).items
            let page = matching.prefix(try #require(query.limit)).filter { visible.contains($0.id) }
            let end = query.offset + (query.limit ?? 0)
            try cursor.advance(
                over: page.map { PulledRow(item: $0, updatedAtText: $0.system.updatedAt?.description) },
                next: query.limit.map { matching.count > $0 } == true ? .skipping(end) : .end,
                at: PageTime(server: now, readAt: now))
            received.formUnion(page.map(\.id))
        }
        #expect(received == visible)
        // Rows that were left out can have moved the others: the next pull begins before them.
        #expect(cursor.token?.id == (order == .keyset || order == .skip ? rows[1].id : nil))
    }

    /// The server takes rows that the user may not see out of the page, and does not sort by id.
    @Test func `an empty page among the rows of one instant is not their end if it has a link to the next`()
        throws
    {
        let time = PageTime(server: nil, readAt: Timestamp.unixEpoch.advanced(by: .seconds(10)))
        var settings = PullSettings()
        settings.pageSize = 2
        var cursor = PullCursor(query: TableQuery("T"), order: .keyset, settings: settings, token: nil)
        func row(_ id: String, _ milliseconds: Int) -> PulledRow {
            let updatedAt = Timestamp.unixEpoch.advanced(by: .milliseconds(milliseconds))
            return PulledRow(
                item: Item(id: id, system: SystemProperties(updatedAt: updatedAt)),
                updatedAtText: "\(updatedAt)")
        }
        let hidden = ["b", "c", "d", "e", "g"]
        let all = (["1", "a", "f", "h"] + hidden).map { row($0, 0) } + [row("z", 1)]
        // The rows of the first page are not in the order of their ids, so all rows of the instant are read by id.
        try cursor.advance(over: [row("h", 0), row("f", 0)], next: .skipping(2), at: time)
        var received = ["h", "f"]
        for _ in 0..<20 where !cursor.isDone {
            let query = cursor.nextPage
            var rest = query
            rest.limit = nil
            let matching = rest.apply(to: all.map(\.item)).items
            let page = matching.prefix(2).filter { !hidden.contains($0.id) }
            received += page.map(\.id)
            try cursor.advance(
                over: page.map { PulledRow(item: $0, updatedAtText: $0.system.updatedAt?.description) },
                next: matching.count > 2 ? .skipping(query.offset + 2) : .end, at: time)
        }
        #expect(cursor.isDone)
        #expect(Set(received) == ["1", "a", "f", "h", "z"])
        // Rows that leave the instant meanwhile move the others: the next pull begins before them.
        #expect(cursor.token == nil)
    }

    @Test func `a pull that skips rows that were left out uses no other query`() throws {
        var cursor = PullCursor(
            query: TableQuery("T"), order: .keyset, settings: PullSettings(), token: nil)
        let row = PulledRow(
            item: Item(id: "a", system: SystemProperties(updatedAt: .unixEpoch)),
            updatedAtText: "1970-01-01T00:00:00.000Z")
        let time = PageTime(server: nil, readAt: .unixEpoch)
        try cursor.advance(over: [row], at: time)
        #expect(cursor.hasAlternative)
        try cursor.advance(over: [], next: .skipping(50), at: time)
        #expect(!cursor.hasAlternative && cursor.nextPage.offset == 50)
    }

    @Test func `the last page with undated rows is not the end if the rows behind them are requested anew`()
        throws
    {
        let time = PageTime(server: nil, readAt: .unixEpoch)
        var settings = PullSettings()
        settings.pageSize = 2
        var cursor = PullCursor(query: TableQuery("T"), order: .keyset, settings: settings, token: nil)
        let undated = ["a", "b"].map { PulledRow(item: Item(id: $0), updatedAtText: nil) }
        try cursor.advance(over: undated, next: .skipping(2), at: time)
        // The server refuses the filter by null.
        cursor.advanceOverRefusal()
        #expect(cursor.nextPage.offset == 2)
        let dated = PulledRow(
            item: Item(id: "c", system: SystemProperties(updatedAt: .unixEpoch)),
            updatedAtText: "1970-01-01T00:00:00.000Z")
        try cursor.advance(over: [dated], next: .end, at: time)
        #expect(!cursor.isDone && cursor.nextPage.offset == 0)
    }

    @Test func `the last page of an instant is not the end of another instant that is read after it`() throws
    {
        func row(_ id: String, _ milliseconds: Int) -> PulledRow {
            let updatedAt = Timestamp.unixEpoch.advanced(by: .milliseconds(milliseconds))
            return PulledRow(
                item: Item(id: id, system: SystemProperties(updatedAt: updatedAt)),
                updatedAtText: "\(updatedAt)")
        }
        func time(_ second: Int) -> PageTime {
            let time = Timestamp.unixEpoch.advanced(by: .seconds(second))
            return PageTime(server: time, readAt: time)
        }
        var settings = PullSettings()
        settings.pageSize = 3
        var cursor = PullCursor(query: TableQuery("T"), order: .keyset, settings: settings, token: nil)
        // The instant of the last row is not past.
        let first = [row("a", 1000), row("b", 2000), row("m", 10_900)]
        try cursor.advance(over: first, next: .skipping(3), at: time(11))
        // The rows of one instant are not in the order of their ids.
        let second = [row("z", 10_950), row("y", 10_950), row("x", 10_950)]
        try cursor.advance(over: second, next: .skipping(3), at: time(12))
        try cursor.advance(over: [row("m", 10_900)], next: .end, at: time(12))
        #expect(!cursor.isDone)
        #expect(cursor.nextPage.apply(to: [row("w", 10_950).item]).items.map(\.id) == ["w"])
    }

    @Test func `a pull with an order skips rows that the server has left out of a page`() throws {
        let rows = (0..<7).map { Item(id: "\($0)", fields: ["n": .int(Int64($0))]) }
        let visible: Set<String> = ["2", "5", "6"]
        var settings = PullSettings()
        settings.pageSize = 3
        let query = TableQuery("T").order(by: "n")
        var cursor = PullCursor(query: query, order: .offset, settings: settings, token: nil)
        var received: [String] = []
        let time = PageTime(server: nil, readAt: .unixEpoch)
        while !cursor.isDone {
            let offset = cursor.nextPage.offset
            let page = rows.dropFirst(offset).prefix(3).filter { visible.contains($0.id) }
            received += page.map(\.id)
            try cursor.advance(
                over: page.map { PulledRow(item: $0, updatedAtText: nil) },
                next: offset + 3 < rows.count ? .skipping(offset + 3) : .end, at: time)
        }
        #expect(received == ["2", "5", "6"])
    }

    @Test func `a page that ends the pull leaves open whether its last instant has more rows`() throws {
        let (updatedAt, time) = (
            Timestamp.unixEpoch.showing(fractionDigits: 3), Timestamp.unixEpoch.advanced(by: .seconds(60))
        )
        let row = PulledRow(
            item: Item(id: "1", system: SystemProperties(updatedAt: updatedAt)),
            updatedAtText: updatedAt.description)
        for (next, rest, instant) in [
            (NextPage.end, nil, DeltaToken.Instant.closed), (.unknown, [PulledRow]?.some([]), .complete),
        ] {
            var cursor = PullCursor(
                query: TableQuery("T"), order: .keyset, settings: PullSettings(), token: nil)
            try cursor.advance(over: [row], next: next, at: PageTime(server: time, readAt: time))
            if let rest { try cursor.advance(over: rest, at: PageTime(server: time, readAt: time)) }
            #expect(cursor.isDone && cursor.token?.instant == instant)
        }
    }

    @Test func `empty pages with links without end are an error, and a link to the same page is the end`()
        throws
    {
        let time = PageTime(server: nil, readAt: .unixEpoch)
        func cursor() -> PullCursor {
            PullCursor(query: TableQuery("T"), order: .keyset, settings: PullSettings(), token: nil)
        }
        var (endless, count) = (cursor(), 0)
        let error = #expect(throws: SyncError.self) {
            while !endless.isDone {
                count += 1
                try endless.advance(over: [], next: .skipping(endless.nextPage.offset + 1), at: time)
            }
        }
        #expect(error?.message.contains("empty pages") == true)
        #expect(count == 10_000)
        var same = cursor()
        try same.advance(over: [], next: .skipping(0), at: time)
        #expect(same.isDone)
    }

    /// A server can order ties differently for each page.
    @Test func `pages with skip have a total order`() {
        func keys(_ query: TableQuery) -> [FilterExpression] {
            let cursor = PullCursor(query: query, order: .offset, settings: PullSettings(), token: nil)
            return cursor.nextPage.orderings.map(\.expression)
        }
        let query = TableQuery("T")
        #expect(keys(query.order(by: "priority")) == [.column("priority"), .column("id")])
        #expect(keys(query.offset(3)) == [.column("id")])
        #expect(keys(query.order(byDescending: "id")) == [.column("id")])
    }
}
