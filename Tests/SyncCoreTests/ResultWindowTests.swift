// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreConformance
import Testing

@_spi(StoreAuthor) @testable import SyncCore

/// Which changes make an observer read again.
struct ResultWindowTests {
    @Test func `a change that is said not to affect a result leaves it as it is`() {
        var random = SeededGenerator(seed: 1)
        var unaffected = 0
        for _ in 0..<20_000 {
            let query = randomQuery(&random)
            var items = Dictionary(
                (0..<Int.random(in: 0...8, using: &random)).map { _ in
                    let item = randomItem(&random)
                    return (item.id, item)
                }, uniquingKeysWith: { $1 })
            let before = query.apply(to: items.values)
            let window = ResultWindow(query, before)
            var rows: [ChangedRow] = []
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                var item = randomItem(&random)
                if let old = items[item.id], Bool.random(using: &random) {
                    // A push or pull has stored another version of the same fields.
                    item.fields = old.fields
                }
                let new = Int.random(in: 0..<4, using: &random) == 0 ? nil : item
                items[item.id] = new
                rows.append(ChangedRow(id: UTF8Text(item.id), item: new))
            }
            guard !window.isAffected(by: .rows(rows)) else { continue }
            unaffected += 1
            let after = query.apply(to: items.values)
            #expect(window.difference(to: after) == .none, "\(query) \(before) \(rows) \(after)")
        }
        // Otherwise the decision would be of no use.
        #expect(unaffected > 5000)
    }

    @Test func `a change of another row does not affect a result, and a matching row does`() {
        let query = TableQuery("T").where(.column("a") == 1).order(by: "b").limit(2)
        let window = ResultWindow(query, QueryResult(items: [item("1", 1, 1), item("2", 1, 2)]))
        #expect(!window.isAffected(by: .rows([row("3", 0, 0)])), "does not match")
        #expect(!window.isAffected(by: .rows([row("3", 1, 3)])), "after the last item of a full result")
        #expect(
            !window.isAffected(by: .rows([ChangedRow(id: UTF8Text("3"), item: nil)])), "deleted elsewhere")
        #expect(!window.isAffected(by: .rows([row("1", 1, 1)])), "the same fields")
        #expect(window.isAffected(by: .rows([row("3", 1, 0)])), "before the last item")
        #expect(window.isAffected(by: .rows([row("1", 0, 1)])), "no longer matches")
        #expect(window.isAffected(by: .rows([ChangedRow(id: UTF8Text("2"), item: nil)])), "deleted")
        #expect(window.isAffected(by: .everything))
    }

    @Test func `many changed rows are not matched against a short result`() {
        let window = ResultWindow(
            TableQuery("T").where(.column("a") == 1), QueryResult(items: [item("1", 1, 1)]))
        let rows = (0..<111).map { row("other \($0)", 0, 0) }
        #expect(window.isAffected(by: .rows(rows)))
        #expect(!window.isAffected(by: .rows(Array(rows.dropLast()))))
    }

    private func item(_ id: String, _ a: Int64, _ b: Int64) -> Item {
        Item(id: id, fields: ["a": .int(a), "b": .int(b)])
    }

    private func row(_ id: String, _ a: Int64, _ b: Int64) -> ChangedRow {
        ChangedRow(id: UTF8Text(id), item: item(id, a, b))
    }

    private func randomItem(_ random: inout SeededGenerator) -> Item {
        Item(
            id: "\(Int.random(in: 0..<10, using: &random))",
            fields: [
                "a": .int(Int64.random(in: 0...2, using: &random)),
                "b": Bool.random(using: &random) ? .null : .int(Int64.random(in: 0...3, using: &random)),
            ],
            system: SystemProperties(version: "\(Int.random(in: 0..<3, using: &random))"))
    }

    private func randomQuery(_ random: inout SeededGenerator) -> TableQuery {
        var query = TableQuery("T")
        switch Int.random(in: 0..<4, using: &random) {
        case 0: break
        case 1: query = query.where(.column("b") == nil)
        case 2: query = query.where(.column("version") == "1")
        default: query = query.where(.column("a") == Int64.random(in: 0...2, using: &random))
        }
        if Bool.random(using: &random) { query = query.order(by: "b") }
        if Int.random(in: 0..<4, using: &random) == 0 { query = query.order(byDescending: "a") }
        if Bool.random(using: &random) { query = query.limit(Int.random(in: 0...3, using: &random)) }
        if Int.random(in: 0..<4, using: &random) == 0 { query = query.offset(1) }
        if Int.random(in: 0..<4, using: &random) == 0 { query = query.includingTotalCount() }
        if Int.random(in: 0..<4, using: &random) == 0 { query = query.select("a") }
        if Int.random(in: 0..<8, using: &random) == 0 { query = query.select("version") }
        return query
    }
}
