// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreOrderedMap
@_spi(StoreAuthor) import SyncCore
import Testing

struct OrderedMapQueryTests {
    private let map = SortedArrayMap()
    private let store: OrderedMapStore
    private let items = (0..<200).map { index in
        let bool: ItemValue = index % 3 == 0 ? .null : .bool(true)
        return Item(
            id: String(index * 7919 % 1000),
            fields: ["integer": .int(Int64(index % 10)), "text": .text("t\(index)"), "bool": bool],
            system: SystemProperties(version: "v\(index)"))
    }

    init() throws {
        store = try OrderedMapStore(on: map)
        let items = items
        try store.write { try $0.upsert(items, in: "Todo") }
    }

    private func find(_ query: TableQuery) throws -> QueryResult {
        try store.read { try $0.items(matching: query) }
    }

    @Test func `the next rows after an id are read without the rows before`() throws {
        let query = TableQuery("Todo").where(.column("id") > "900").limit(5)
        let work = try map.work { try #expect(find(query).items.count == 5) }
        #expect(work.scanned <= 10)
    }

    @Test func `queries have the same results as the reference`() throws {
        let all = TableQuery("Todo")
        let open = all.where(.column("integer") == 3)
        let queries = [
            all, all.limit(0), all.limit(0).includingTotalCount(), all.offset(190).limit(20), all.offset(500),
            all.offset(3).limit(5).includingTotalCount(), open, open.limit(2).offset(1),
            open.includingTotalCount(),
            open.select("text"),
            all.where(.isNull(.column("bool"))).select("integer").order(byDescending: "text").limit(7),
            all.order(by: "integer").order(byDescending: "id").offset(11).limit(13).includingTotalCount(),
            all.order(by: "version").select("id"), all.where(.column("id") == "7"),
            all.where(.comparison(.equal, .constant("7"), .column("id"))),
            all.where(.column("id") == "919" && .column("integer") == 1),
            all.where(.column("id") == "919" && .column("integer") == 2),
            all.where(.isIn(.column("id"), ["919", "0", "absent", "0", "838"])),
            all.where(.isIn(.column("id"), [String]())),
            all.where(.column("id") == "0" || .column("integer") == 4),
            all.where(!(.column("id") == "0")).limit(3),
            all.where(.isNull(.column("id"))), all.where(.column("id") > "5").limit(9),
            all.where(.column("id") >= "919" && .column("integer") > 3 && .column("id") > "5"),
            all.where(.comparison(.lessOrEqual, .constant("919"), .column("id"))).includingTotalCount(),
            all.where(.comparison(.less, .constant("919"), .column("id"))).order(byDescending: "integer"),
            all.where(!(.column("id") > "5")), all.where(.column("id") < "5"),
            all.where(.always(false)), all.where(.column("version") == "v7").select("bool"),
            all.where(FilterExpression.length(.column("text")) == 2).includingTotalCount().limit(1),
            all.where(FilterExpression.column("integer") + 1 == 4).where(.hasPrefix(.column("text"), "t1")),
        ]
        for query in queries { try #expect(find(query) == query.apply(to: items), "\(query)") }
    }

    @Test func `deleting by query deletes exactly the query's matches`() throws {
        let query = TableQuery("Todo").where(.column("integer") < 5).order(byDescending: "text").offset(3)
            .limit(20)
        let found = Set(query.apply(to: items).items.map(\.id))
        try #expect(store.write { try $0.deleteItems(matching: query) } == 20)
        let left = items.filter { !found.contains($0.id) }
        try #expect(find(TableQuery("Todo")) == TableQuery("Todo").apply(to: left))
    }

    @Test func `a query in order of id reads nothing after the window`() throws {
        let work = try map.work { _ = try find(TableQuery("Todo").offset(2).limit(3)) }
        #expect(work == SortedArrayMap.Work(scans: 1, scanned: 5))
    }

    @Test func `a query by ids looks the ids up`() throws {
        let one = try map.work {
            _ = try find(TableQuery("Todo").where(.column("id") == "7" && .column("integer") == 1))
        }
        #expect(one == SortedArrayMap.Work(gets: 1))
        let few = try map.work {
            _ = try find(TableQuery("Todo").where(.isIn(.column("id"), ["7", "0", "7"])))
        }
        #expect(few == SortedArrayMap.Work(gets: 2))
    }
}
