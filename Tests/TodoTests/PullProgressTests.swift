// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

@testable import todo

@Suite struct PullProgressTests {
    private func pull(rows: Int, on console: Console, _ bench: Bench) async throws {
        for start in stride(from: 0, to: rows, by: 1000) {
            let page = (start..<min(start + 1000, rows)).map {
                (id: "row-\($0)", fields: ["text": ItemValue.text("text \($0)")])
            }
            try await bench.server.put(page, in: TodoItem.definition.name)
        }
        // Rows of an instant that is not over yet are read once more.
        bench.server.clock.advance(by: .seconds(10))
        let app = TodoApp(context: try bench.app().context, console: console, storeName: "memory")
        try await app.pullShowing()
    }

    @Test func `a long pull shows a line now and then`() async throws {
        try await Bench.run { bench in
            let transcript = Transcript()
            try await pull(rows: 2100, on: transcript.console(), bench)
            #expect(
                transcript.lines == [
                    "Pulling… rows: 1000", "Pulling… rows: 2000",
                    "Pulled 2100 rows: 2100 new or changed.",
                ])
        }
    }

    @Test func `on a terminal one line changes and goes away`() async throws {
        try await Bench.run { bench in
            let transcript = Transcript()
            var console = transcript.console()
            console.rewritesLines = true
            try await pull(rows: 120, on: console, bench)
            let steps = transcript.text.components(separatedBy: "\r\u{1B}[2K")
            #expect(steps.contains("Pulling… rows: 50"))
            #expect(steps.contains("Pulling… rows: 120"))
            #expect(steps.last == "Pulled 120 rows: 120 new or changed.\n")
        }
    }
}
