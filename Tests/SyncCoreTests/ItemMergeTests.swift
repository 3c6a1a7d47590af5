// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SyncCore

/// The server's row joined with what the user has done since.
@Suite struct ItemMergeTests {
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

    /// Every way in which base, device and server can hold null, one value or another.
    @Test func `a field changed here stays, one changed there alone is taken`() {
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

    @Test func `local-only columns are the device's`() {
        #expect(merge(["a": 1, "note": "server"], over: ["note": "mine"], ancestor: [:])["note"] == "mine")
        #expect(
            merge(["a": 1], over: ["a": 0, "note": "mine"], ancestor: ["a": 0]) == ["a": 1, "note": "mine"])
    }

    @Test func `without a local item the server's row is taken`() {
        #expect(merge(["a": 1, "b": nil], over: nil, ancestor: ["a": 5]) == ["a": 1, "b": nil])
    }
}
