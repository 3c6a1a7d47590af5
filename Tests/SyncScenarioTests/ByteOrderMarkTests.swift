// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

/// Servers and proxies that put a byte order mark before JSON.
@Suite struct ByteOrderMarkTests {
    private static func marked(_ json: ItemValue) -> Data { Data([0xEF, 0xBB, 0xBF]) + json.json }

    @Test(arguments: StoreKind.allCases)
    func `pages and responses to writes can start with a byte order mark`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            let row: ItemValue = ["id": "x", "text": "\u{FEFF}one", "version": "v1"]
            scenario.server.inject(.answer(status: 200, body: Self.marked([row])), when: \.isPage)
            scenario.server.inject(.answer(status: 200, body: Self.marked([])), when: \.isPage)
            try await a.context.pull(Todo.query)
            #expect(try await a.item("x")?["text"] == "\u{FEFF}one")
            try await a.table.update(id: "x", ["priority": 1])
            let answer: ItemValue = ["id": "x", "text": "one", "priority": 1, "version": "v2"]
            scenario.server.inject(.answer(status: 200, body: Self.marked(answer)), when: \.isWrite)
            try await a.context.push()
            #expect(try await a.item("x")?.system.version == "v2")
            #expect(try await a.operations().isEmpty)
        }
    }
}
