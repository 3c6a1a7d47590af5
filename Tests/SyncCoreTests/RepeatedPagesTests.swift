// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SyncCore

@Suite struct RepeatedPagesTests {
    private static func page(_ text: String) -> [PulledRow] {
        [PulledRow(item: Item(id: "", fields: ["text": .text(text)]), updatedAtText: nil, isReadable: false)]
    }

    @Test func `rows without an id and a version are told apart by their content`() {
        var pages = RepeatedPages()
        let seen = (0..<5).map { pages.hasSeenAll(of: Self.page("\($0)")) }
        #expect(seen == [false, false, false, false, false])
        let isRepeated = pages.hasSeenAll(of: Self.page("4"))
        #expect(isRepeated)
    }
}
