// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncModels
import Testing

/// Ids of models.
@Suite struct SyncIDTests {
    @Test func `new ids are valid, different and ordered by time`() throws {
        let ids = (0..<100).map { _ in SyncID<Todo>() }
        for id in ids { try ItemID.validate(id.text) }
        #expect(Set(ids).count == 100)
        #expect(ids.map { $0.text.prefix(13) } == ids.map { $0.text.prefix(13) }.sorted())
        #expect(ids.allSatisfy { UUID(uuidString: $0.text) != nil && Array($0.text)[14] == "7" })
    }

    @Test func `ids are equal only if their bytes are`() {
        let (composed, decomposed): (SyncID<Todo>, SyncID<Todo>) = ("\u{E9}", "e\u{301}")
        #expect(composed != decomposed)
        #expect(composed == SyncID<Todo>(stringLiteral: "\u{E9}"))
    }

    @Test func `a text that is no valid id makes none`() {
        let texts = ["a/b", "a b", ""]
        #expect(texts.map { SyncID<Todo>($0)?.text } == [nil, "a b", nil])
        #expect("\(SyncID<Todo>(stringLiteral: "a"))" == "a")
    }

    @Test func `ids are coded as strings`() throws {
        let ids: [SyncID<Todo>] = ["a", "b"]
        let json = try JSONEncoder().encode(ids)
        #expect(String(decoding: json, as: UTF8.self) == #"["a","b"]"#)
        #expect(try JSONDecoder().decode([SyncID<Todo>].self, from: json) == ids)
    }
}
