// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Synchronization
import Testing

@_spi(StoreAuthor) @testable import SyncCore

/// An instant that is read again, from a server that marks the last page.
@Suite struct OpenInstantTests {
    private static func time(_ milliseconds: Int64) -> Timestamp {
        Timestamp.unixEpoch.showing(fractionDigits: 3).advanced(by: .milliseconds(milliseconds))
    }

    private static func row(_ id: String, _ milliseconds: Int64) -> PulledRow {
        let time = time(milliseconds)
        return PulledRow(
            item: Item(id: id, system: SystemProperties(updatedAt: time, version: "1")),
            updatedAtText: time.description)
    }

    /// `b` is written in the instant of `c` after the page with `c`; the last page has a later row.
    @Test func `rows of an open instant are read even if the page after it is the last`() throws {
        var settings = PullSettings()
        settings.pageSize = 2
        settings.overlap = .zero
        var cursor = PullCursor(query: TableQuery("T"), order: .keyset, settings: settings, token: nil)
        var rows = [Self.row("a", 0), Self.row("c", 10_000)]
        var received: Set<String> = []
        var pages = 0
        while !cursor.isDone, pages < 20 {
            let query = cursor.nextPage
            let page = query.apply(to: rows.map(\.item)).items.map { item in
                PulledRow(item: item, updatedAtText: item.system.updatedAt?.description)
            }
            received.formUnion(page.map(\.item.id))
            let date = Self.time(pages == 0 ? 10_000 : 20_000)
            try cursor.advance(
                over: page, next: page.count < (query.limit ?? .max) ? .end : .unknown,
                at: PageTime(server: date, readAt: date))
            if pages == 0 { rows += [Self.row("b", 10_000), Self.row("d", 11_000)] }
            pages += 1
        }
        #expect(cursor.isDone)
        if !received.contains("b") {
            // The next pull starts at the token.
            var next = PullCursor(
                query: TableQuery("T"), order: .keyset, settings: settings, token: cursor.token)
            let date = Self.time(30_000)
            for _ in 0..<20 where !next.isDone {
                let page = next.nextPage.apply(to: rows.map(\.item)).items.map { item in
                    PulledRow(item: item, updatedAtText: item.system.updatedAt?.description)
                }
                received.formUnion(page.map(\.item.id))
                try next.advance(over: page, at: PageTime(server: date, readAt: date))
            }
        }
        #expect(received == ["a", "b", "c", "d"])
    }

    /// The rest of an open instant fits into one page, which is marked as the last. The pull has not ended.
    @Test func `the last page of an instant does not end the pull`() throws {
        var settings = PullSettings()
        settings.pageSize = 3
        settings.overlap = .zero
        var cursor = PullCursor(query: TableQuery("T"), order: .keyset, settings: settings, token: nil)
        var rows = [Self.row("a", 0), Self.row("b", 10), Self.row("c", 10_000)]
        var received: Set<String> = []
        var pages = 0
        while !cursor.isDone, pages < 20 {
            let query = cursor.nextPage
            var all = query
            all.limit = nil
            let page = query.apply(to: rows.map(\.item)).items.map { item in
                PulledRow(item: item, updatedAtText: item.system.updatedAt?.description)
            }
            received.formUnion(page.map(\.item.id))
            let date = Self.time(pages == 0 ? 10_000 : 20_000)
            let isLast = all.apply(to: rows.map(\.item)).items.count == page.count
            try cursor.advance(
                over: page, next: isLast ? .end : .unknown, at: PageTime(server: date, readAt: date))
            if pages == 0 { rows += (1...7).map { Self.row("d\($0)", 11_000 + Int64($0)) } }
            pages += 1
        }
        #expect(received == Set(rows.map(\.item.id)))
    }

    /// The server hides digits, so that it returns the rows of the last instant again.
    @Test func `a row dated in the future does not close an earlier instant`() throws {
        var settings = PullSettings()
        settings.pageSize = 1
        settings.overlap = .zero
        var cursor = PullCursor(query: TableQuery("T"), order: .keyset, settings: settings, token: nil)
        let stored = [("a", Duration.microseconds(100)), ("b", .seconds(3600))].map { id, time in
            let updatedAt = Timestamp.unixEpoch.showing(fractionDigits: 7).advanced(by: time)
            return Item(id: id, system: SystemProperties(updatedAt: updatedAt, version: "1"))
        }
        let date = Self.time(500)
        for _ in 0..<20 where !cursor.isDone {
            let page = cursor.nextPage.apply(to: stored).items.map { item in
                var shown = item
                shown.system.updatedAt = item.system.updatedAt?.showing(fractionDigits: 3)
                return PulledRow(item: shown, updatedAtText: shown.system.updatedAt?.description)
            }
            try cursor.advance(over: page, at: PageTime(server: date, readAt: date))
        }
        #expect(cursor.isDone)
        #expect(cursor.token?.id == "a")
        #expect(cursor.token?.instant == .open)
    }

    /// The server sends no `Date`, and its response takes longer than an instant stays open.
    @Test func `an instant is open if it was when the page was requested`() async throws {
        let clock = Mutex(Self.time(0))
        let transport = ScriptedTransport { request in
            let isFirst = request.head.path?.contains("filter") == false
            clock.withLock { $0 = $0.advanced(by: .seconds(5)) }
            let body = isFirst ? #"[{"id":"b","updatedAt":"\#(Self.time(0))"}]"# : "[]"
            return HTTPTransportResponse(status: .ok, headerFields: [:], body: Data(body.utf8))
        }
        let context = try SyncContext.scripted(transport) { clock.withLock { $0 } }
        for _ in 0..<2 { try await context.pull(TableQuery("T"), queryID: "all") }
        // A row with a smaller id can have got the same instant after the first page was read.
        let next = try #require(transport.requests.last?.head.path?.removingPercentEncoding)
        #expect(next.contains("updatedAt ge datetimeoffset'\(Self.time(0))'"))
    }

    /// The instant of the last row is past when the next pull receives it again, as the last page.
    @Test func `an instant that is past is not read again by each pull`() throws {
        let rows = [Self.row("a", 0), Self.row("b", 0)]
        func pull(from token: DeltaToken?, at date: Timestamp) throws -> (received: Int, token: DeltaToken?) {
            var cursor = PullCursor(
                query: TableQuery("T"), order: .keyset, settings: PullSettings(), token: token)
            var received = 0
            while !cursor.isDone {
                let page = cursor.nextPage.apply(to: rows.map(\.item)).items.map { item in
                    PulledRow(item: item, updatedAtText: item.system.updatedAt?.description)
                }
                received += page.count
                try cursor.advance(over: page, next: .end, at: PageTime(server: date, readAt: date))
            }
            return (received, cursor.token)
        }
        let first = try pull(from: nil, at: Self.time(0))
        let second = try pull(from: first.token, at: Self.time(60_000))
        #expect(second.received == 2)
        let third = try pull(from: second.token, at: Self.time(120_000))
        #expect(third.received == 0)
        #expect(try pull(from: third.token, at: Self.time(180_000)).received == 0)
    }
}
