// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreConformance
import SyncCore
import Testing

@testable import StoreOrderedMap

struct OrderedMapLongKeysTests {
    @Test func `keys with the same stem and hash are distinguished by their bytes`() throws {
        let map = SortedArrayMap(maxKeyLength: 32)
        let keys = LongKeys(maxKeyLength: 32) { _ in 7 }
        let stem = [UInt8](repeating: 9, count: 24)
        let all = (0..<20).map { stem + [UInt8](repeating: UInt8($0 % 3), count: $0) }
        try map.write { map in
            for (index, key) in all.enumerated() { try keys.put([UInt8(index)], for: key, in: map) }
            for index in stride(from: 0, to: 20, by: 2) { try keys.put([100], for: all[index], in: map) }
            for index in stride(from: 0, to: 20, by: 5) { try keys.delete(all[index], in: map) }
        }
        try #expect(map.entries().count == 1)
        try map.read { map in
            for (index, key) in all.enumerated() {
                let expected: [UInt8]? = index % 5 == 0 ? nil : index % 2 == 0 ? [100] : [UInt8(index)]
                try #expect(keys.get(key, in: map) { Array($0) } == expected)
            }
        }
        try map.write { map in for key in all { try keys.delete(key, in: map) } }
        try #expect(map.entries().isEmpty)
    }

    @Test(arguments: [0, 1, .max] as [UInt64])
    func `a scan returns long and short keys in order`(modulus: UInt64) throws {
        let map = SortedArrayMap(maxKeyLength: 32)
        let keys = LongKeys(maxKeyLength: 32) { modulus == 0 ? 0 : FNV1a.hash($0) % modulus }
        var random = SeededGenerator(seed: modulus)
        var all: Set<[UInt8]> = []
        for _ in 0..<400 {
            let length = Int.random(in: 1...40, using: &random)
            all.insert([1] + (0..<length).map { _ in UInt8.random(in: 0...1, using: &random) &* 255 })
            all.insert(
                [1] + [UInt8](repeating: 5, count: length) + [UInt8.random(in: 0...255, using: &random)])
        }
        try map.write { map in for key in all { try keys.put(key, for: key, in: map) } }
        let ordered = all.sorted { $0.lexicographicallyPrecedes($1) }
        func scan(_ prefix: [UInt8], from start: [UInt8]? = nil, limit: Int = .max) throws -> [[UInt8]] {
            var found: [[UInt8]] = []
            try map.read { map in
                try keys.scan(prefix: prefix, from: start, in: map) { key, value in
                    #expect(prefix + Array(key) == Array(value))
                    found.append(Array(value))
                    return found.count < limit
                }
            }
            return found
        }
        try #expect(scan([1]) == ordered)
        try #expect(scan([1], limit: 77) == Array(ordered.prefix(77)))
        for start in stride(from: 0, to: ordered.count, by: 29).map({ ordered[$0] }) {
            try #expect(scan([1], from: start) == ordered.filter { !$0.lexicographicallyPrecedes(start) })
            try #expect(scan(start) == ordered.filter { $0.starts(with: start) })
        }
    }
}
