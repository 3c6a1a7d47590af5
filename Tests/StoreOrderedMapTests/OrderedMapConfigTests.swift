// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreOrderedMap
import SyncCore
import Testing

struct OrderedMapConfigTests {
    @Test(arguments: OrderedMapItemTests.keyLengths)
    func `config values with any names are separate and in byte order`(maxKeyLength: Int) throws {
        let store = try OrderedMapStore(on: SortedArrayMap(maxKeyLength: maxKeyLength))
        let names =
            EdgeCaseItems.ids + ["", "\0", "\0\0", "a\0", "a"] + [String(repeating: "\0", count: 5000)]
        let distinct = Dictionary(names.map { (Array($0.utf8), $0) }, uniquingKeysWith: { first, _ in first })
        let keys = ["", "a", "aa", String(repeating: "t", count: 700)].flatMap { table in
            ConfigKey.Kind.allCases.flatMap { kind in
                distinct.values.map { ConfigKey(table: table, kind: kind, name: $0) }
            }
        }
        try store.write { transaction in
            for (index, key) in keys.enumerated() { try transaction.setConfigValue("old \(index)", for: key) }
            for (index, key) in keys.enumerated() { try transaction.setConfigValue("\(index)", for: key) }
        }
        try store.read { snapshot in
            for (index, key) in keys.enumerated() { try #expect(snapshot.configValue(key) == "\(index)") }
            let listed = try snapshot.configValues(in: "a", kind: .deltaToken).map { Array($0.key.name.utf8) }
            #expect(listed == distinct.keys.sorted { $0.lexicographicallyPrecedes($1) })
        }
        try store.write { transaction in
            for key in keys where key.table == "a" { try transaction.setConfigValue(nil, for: key) }
        }
        try store.read { snapshot in
            try #expect(snapshot.configValues(in: "a", kind: .deltaToken).isEmpty)
            try #expect(snapshot.configValues(in: "aa", kind: .setting).count == distinct.count)
        }
    }
}
