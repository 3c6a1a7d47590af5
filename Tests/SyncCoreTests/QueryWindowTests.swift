// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

@_spi(StoreAuthor) import SyncCore
import Testing

/// ``QueryWindow`` beside the reference implementation of queries.
@Suite struct QueryWindowTests {
    private let items = (0..<60).map { number -> Item in
        let value: ItemValue = number % 7 == 0 ? .null : .int(Int64(number * 13 % 10))
        let text = ["a", "b", "á", ""][number % 4]
        return Item(id: "item-\(number * 37 % 60)", fields: ["number": value, "text": .text(text)])
    }

    private let orders: [[Ordering]] = [
        [], [Ordering(.column("number"))], [Ordering(.column("text"), isDescending: true)],
        [Ordering(.column("number"), isDescending: true), Ordering(.column("text"))],
        [Ordering(.column("id"), isDescending: true)],
    ]

    @Test(arguments: [nil, 0, 1, 3, 20, 59, 60, 61, .max] as [Int?], [0, 1, 7, 60, .max])
    func `a window has the result of the reference implementation`(_ limit: Int?, _ offset: Int) {
        for orderings in orders {
            for includesTotalCount in [false, true] {
                var query = TableQuery("T")
                (query.orderings, query.limit, query.offset) = (orderings, limit, offset)
                query.includesTotalCount = includesTotalCount
                query.selection = limit == 3 ? ["number"] : []
                for order in [items, items.reversed(), items.sorted { $0.id < $1.id }] {
                    var window = QueryWindow(query)
                    for item in order { window.add(item) }
                    #expect(window.result == query.apply(to: items), "\(query)")
                }
            }
        }
    }
}
