// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SyncCore

/// The functions of filters return what servers return.
@Suite struct FilterFunctionTests {
    @Test(arguments: ["\u{200B}", "\u{FEFF}", "\u{200D}"])
    func `trim keeps characters that are no white space`(_ character: String) {
        let text = "\(character)a\(character)"
        #expect(FilterExpression.Function.trim.apply([.text(" \u{3000}\(text)\n\u{85}")]) == .text(text))
    }
}
