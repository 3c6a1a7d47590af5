// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncModels
import TableServer
import Testing

@testable import todo

@Suite struct PullProgressTests {
    private func pull(rows: Int, on console: Console, _ fixture: TodoFixture) async throws {
        for start in stride(from: 0, to: rows, by: 1000) {
            let page = (start..<min(start + 1000, rows)).map {
                (id: "row-\($0)", fields: ["text": ItemValue.text("text \($0)")])
            }
            try await fixture.server.put(page, in: TodoItem.schema.name)
        }
        // Moves past the instant of the rows: a pull fetches the rows of the current instant twice.
        fixture.server.clock.advance(by: .seconds(10))
        let app = TodoApp(context: try fixture.app().context, console: console, storeName: "memory")
        try await app.pullWithProgress()
    }

    @Test func `without a terminal a long pull prints a line at intervals`() async throws {
        try await TodoFixture.run { fixture in
            let transcript = Transcript()
            try await pull(rows: 2100, on: transcript.console(), fixture)
            #expect(
                transcript.lines == [
                    "Pulling… rows: 1000", "Pulling… rows: 2000",
                    "Pulled 2100 rows: 2100 new or changed.",
                ])
        }
    }

    @Test func `on a terminal a pull overwrites one line and clears it at the end`() async throws {
        try await TodoFixture.run { fixture in
            let transcript = Transcript()
            var console = transcript.console()
            console.rewritesLines = true
            try await pull(rows: 120, on: console, fixture)
            let steps = transcript.text.components(separatedBy: "\r\u{1B}[2K")
            #expect(steps.contains("Pulling… rows: 50"))
            #expect(steps.contains("Pulling… rows: 120"))
            #expect(steps.last == "Pulled 120 rows: 120 new or changed.\n")
        }
    }
}
