// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import Testing

/// Items as `print` shows them.
@Suite struct ItemDescriptionTests {
    @Test func `an item shows its id, its fields by name and what the server has set`() throws {
        let time = try #require(Timestamp("2026-01-02T03:04:05.678Z"))
        var item = Item(id: "a\"b", fields: ["text": "Buy \"milk\"", "complete": false, "none": .null])
        #expect(item.description == #"Item "a\"b" {complete: false, none: null, text: "Buy \"milk\""}"#)
        item.system = SystemProperties(updatedAt: time, version: "AQ==", deleted: true)
        item.fields = [:]
        #expect("\(item)" == #"Item "a\"b" {}, version AQ==, updated 2026-01-02T03:04:05.678Z, deleted"#)
    }

    @Test func `a value shows its content`() throws {
        let time = try #require(Timestamp("2026-01-02T03:04:05.678Z"))
        let values: [ItemValue] = [
            1, 1.5, .date(time), .data(Data([1, 2])), .array([.bool(true), .object(["b": 1, "a": "x"])]),
        ]
        let shown = ["1", "1.5", "2026-01-02T03:04:05.678Z", "2 bytes", #"[true, {a: "x", b: 1}]"#]
        #expect(values.map(\.description) == shown)
    }
}
