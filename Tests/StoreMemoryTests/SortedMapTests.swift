// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreConformance
import Testing

@testable import StoreMemory

@Suite struct SortedMapTests {
    @Test func `the map equals a dictionary after thousands of random changes`() {
        var generator = SeededGenerator(seed: 42)
        var map = SortedMap<Int, Int>()
        var model: [Int: Int] = [:]
        for step in 0..<20_000 {
            let key = Int.random(in: 0..<2_000, using: &generator)
            let value = Bool.random(using: &generator) || step < 4_000 ? step : nil
            map[key] = value
            model[key] = value
        }
        #expect(map.count == model.count)
        #expect(map.entries(from: nil).map(\.key) == model.keys.sorted())
        #expect(model.allSatisfy { map[$0.key] == $0.value })
        #expect(map.entries(from: 1_000).map(\.key) == model.keys.filter { $0 >= 1_000 }.sorted())
    }

    @Test func `a copy does not see later changes`() {
        var map = SortedMap<Int, String>()
        for key in 0..<1_000 { map[key] = "old" }
        let copy = map
        for key in 0..<1_000 { map[key] = key.isMultiple(of: 2) ? "new" : nil }
        #expect(copy.count == 1_000)
        #expect(copy.values.allSatisfy { $0 == "old" })
        #expect(map.count == 500)
    }
}
