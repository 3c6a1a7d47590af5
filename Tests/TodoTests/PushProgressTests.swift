// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncModels
import TableServer
import Testing

@testable import todo

@Suite struct PushProgressTests {
    @Test func `on a terminal a push shows how many changes are left, and clears the line at the end`()
        async throws
    {
        try await TodoFixture.run { fixture in
            let transcript = Transcript()
            var console = transcript.console()
            console.rewritesLines = true
            let app = TodoApp(context: try fixture.app().context, console: console, storeName: "memory")
            for text in ["a", "b", "c"] {
                try await app.table.raw.insert(["text": .text(text), "complete": false])
            }
            try await app.push(onConflict: nil)
            let steps = transcript.text.components(separatedBy: "\r\u{1B}[2K")
            #expect(steps.dropFirst().first == "Pushing… changes left: 3")
            #expect(steps.last == "Pushed 3 changes.\n")
        }
    }

    @Test func `without a terminal the progress is a line at intervals`() {
        let transcript = Transcript()
        var line = ProgressLine(transcript.console(), "Pushing… changes left: ", from: 2500)
        for left in (0...2500).reversed() { line.show(left) }
        line.clear()
        #expect(transcript.lines == ["Pushing… changes left: 1500", "Pushing… changes left: 500"])
    }

    @Test func `without a terminal a short push shows no progress`() async throws {
        try await TodoFixture.run { fixture in
            let transcript = Transcript()
            let app = try fixture.app(transcript)
            try await app.table.raw.insert(["text": "a", "complete": false])
            try await app.push(onConflict: nil)
            #expect(transcript.lines == ["Pushed 1 change."])
        }
    }
}
