// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SyncCore

/// A server's row merged with the user's newer changes.
@Suite struct ThreeWayMergeTests {
    private static let definition = SyncTableDefinition(
        "T",
        columns: [
            SyncColumn("a", .integer), SyncColumn("b", .integer),
            SyncColumn("note", .text, isLocalOnly: true),
        ])

    private func merge(
        _ row: [String: ItemValue], over local: [String: ItemValue]?, ancestor: [String: ItemValue]
    ) -> [String: ItemValue] {
        let row = Item(id: "x", fields: row, system: SystemProperties(version: "v2"))
        let local = local.map { Item(id: "x", fields: $0, system: SystemProperties(version: "v1")) }
        let merged = row.merged(over: local, ancestor: ancestor, definition: Self.definition)
        #expect(merged.system.version == "v2")
        return merged.fields
    }

    /// All combinations of missing, null and two values in ancestor, local item and row.
    @Test func `a local change is kept, a change by the server alone is taken`() {
        let values: [ItemValue?] = [nil, .null, 1, 2]
        for ancestor in values {
            for local in values {
                for server in values {
                    let merged = merge(fields(server), over: fields(local), ancestor: fields(ancestor))["a"]
                    let isUntouched = (local ?? .null) == (ancestor ?? .null)
                    #expect(merged == (isUntouched && server != nil ? server : local))
                }
            }
        }
    }

    private func fields(_ value: ItemValue?) -> [String: ItemValue] { value.map { ["a": $0] } ?? [:] }

    @Test func `local-only columns keep their local values`() {
        #expect(merge(["a": 1, "note": "server"], over: ["note": "mine"], ancestor: [:])["note"] == "mine")
        #expect(
            merge(["a": 1], over: ["a": 0, "note": "mine"], ancestor: ["a": 0]) == ["a": 1, "note": "mine"])
    }

    @Test func `without a local item the row is taken as it is`() {
        #expect(merge(["a": 1, "b": nil], over: nil, ancestor: ["a": 5]) == ["a": 1, "b": nil])
    }
}
