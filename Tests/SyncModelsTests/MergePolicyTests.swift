// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncModels
import Testing

@testable import struct SyncModels.MergePolicy

/// How policies combine two changes of one value.
@Suite struct MergePolicyTests {
    private func merge<Value>(
        _ policy: MergePolicy<Value>, _ base: Value?, _ mine: Value, _ theirs: Value,
        isMineLater: Bool = false
    ) -> Value {
        policy.merge(base, mine, theirs, isMineLater)
    }

    @Test func `a counter adds what both sides have added`() {
        #expect(merge(.counter, 5, 6, 7) == 8)
        #expect(merge(.counter, 5, 3, 4) == 2)
        #expect(merge(.counter, nil, 2, 3) == 5)
        #expect(merge(.counter, UInt8(5), 3, 9) == 7)
        #expect(merge(.counter, 0.5, 1.0, 2.0) == 2.5)
    }

    @Test func `a counter stops at the limits of its type`() {
        #expect(merge(.counter, 0, Int.max, 1) == .max)
        #expect(merge(.counter, -1, Int.max, 1) == .max)
        #expect(merge(.counter, Int8(-1), 127, -100) == 28)
        #expect(merge(.counter, Int8(1), -128, 100) == -29)
        #expect(merge(.counter, Int8(1), -128, 0) == .min)
        #expect(merge(.counter, 1, Int.min, 1) == .min)
        #expect(merge(.counter, UInt8(5), 0, 3) == 0)
        #expect(merge(.counter, UInt8(5), 255, 200) == 255)
        let greatest = Double.greatestFiniteMagnitude
        #expect(merge(.counter, 0, greatest, greatest) == greatest)
        #expect(merge(.counter, greatest, -greatest, 1) == -greatest)
    }

    @Test func `a counter of an optional number takes nil for 0`() {
        let count: MergePolicy<Int?> = .counter
        #expect(merge(count, nil, 2, 3) == 5)
        #expect(merge(count, .some(nil), 2, 3) == 5)
        #expect(merge(count, 5, 6, nil) == 1)
        #expect(merge(count, 5, nil, 7) == 2)
        #expect(merge(count, 5, nil, nil) == nil)
        #expect(merge(count, 1, Int.max, 1) == Int.max)
        let amount: MergePolicy<Double?> = .counter
        #expect(merge(amount, 0.5, 1.0, nil) == 0.5)
    }

    @Test func `a union has additions of both sides, without removals of either side`() {
        #expect(merge(.union, ["a", "b", "c"], ["a", "c", "x"], ["a", "b", "y"]) == ["a", "y", "x"])
        #expect(merge(.union, nil, ["a", "x"], ["a", "y"]) == ["a", "y", "x"])
        #expect(merge(.union, Set(["a", "b", "c"]), ["a", "c", "x"], ["a", "b", "y"]) == ["a", "x", "y"])
        #expect(merge(.union, nil, Set(["a"]), ["b"]) == ["a", "b"])
    }

    @Test func `a union of arrays counts equal elements`() {
        #expect(merge(.union, ["a", "a"], ["a"], ["a", "a", "x"]) == ["a", "x"])
        #expect(merge(.union, ["a"], ["a", "a"], ["a", "x"]) == ["a", "x", "a"])
        #expect(merge(.union, ["a", "a"], ["a"], ["a"]) == ["a"])
        #expect(merge(.union, ["a"], ["a", "a"], ["a", "a"]) == ["a", "a"])
        #expect(merge(.union, nil, ["a", "a"], ["a"]) == ["a", "a"])
    }

    @Test func `the greatest, least and latest value, and the value of one side`() {
        #expect(merge(.greatest, 0, 1, 2) == 2 && merge(.least, 0, 1, 2) == 1)
        #expect(merge(.mine, 0, 1, 2) == 1 && merge(.theirs, 0, 1, 2) == 2)
        #expect(merge(.latest, 0, 1, 2, isMineLater: true) == 1)
        #expect(merge(.latest, 0, 1, 2, isMineLater: false) == 2)
        #expect(merge(MergePolicy { ($0 ?? 0) * $1 * $2 }, 2, 3, 5) == 30)
    }
}
