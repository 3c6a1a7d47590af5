// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import SyncCore

/// The next link of a list in the v3 dialect.
@Suite struct NextPageTests {
    @Test(arguments: [
        (#"{"items":[{"id":"a"}]}"#, true), (#"{"items":[{"id":"a"}],"nextLink":null}"#, true),
        (#"{"items":[{"id":"a"}],"nextLink":"$skip=1"}"#, false),
        (#"{"nextLink":"$skip=1","items":[{"id":"a"}]}"#, false), (#"[{"id":"a"}]"#, false),
    ])
    func `a list without a next link is the last page`(_ body: String, _ isLast: Bool) async throws {
        let call = RemoteCall(.query([], includesDeleted: false), table: "T")
        for (dialect, expected) in [(WireDialect.v3, isLast), (.v2, false)] {
            let client = SyncClient(
                url: try #require(Self.url), transport: ScriptedTransport(200, body), dialect: dialect)
            #expect(try await client.send(call).isLastPage == expected)
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
            try cursor.advance(over: (0..<3).map(row), isLast: true, at: PageTime(server: now, readAt: now))
            #expect(!cursor.isDone)
            try cursor.advance(over: (3..<5).map(row), isLast: false, at: PageTime(server: now, readAt: now))
            #expect(!cursor.isDone)
            try cursor.advance(over: [row(5)], isLast: true, at: PageTime(server: now, readAt: now))
            #expect(cursor.isDone)
        }
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
