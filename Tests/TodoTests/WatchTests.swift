// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Subprocess
import TableServer
import TestSupport
import Testing

@testable import todo

@Suite struct WatchTests {
    @Test func `watch shows items that another process and another device add, and ends at Ctrl-C`()
        async throws
    {
        try await TodoFixture.run { fixture in
            try await TodoProcess.withDirectory { todo in
                #expect(try await todo.run("add", "Buy eggs").status == 0)
                let arguments = [
                    try builtProgram("todo").path, "--data", todo.directory.path, "--server",
                    "\(fixture.server.url)",
                    "watch",
                ]
                let result = try await Subprocess.run(
                    .name("env"), arguments: Arguments(arguments), input: .none, output: .sequence,
                    error: .discarded
                ) { watch in
                    var lines = watch.standardOutput.strings().makeAsyncIterator()
                    func waitForLine(_ end: String) async throws {
                        while let line = try await lines.next() {
                            if line.trimmingCharacters(in: .newlines).hasSuffix(end) { return }
                        }
                        Issue.record("The process ended without a line that ends with '\(end)'.")
                    }
                    try await waitForLine(" * [ ] Buy eggs")
                    try await waitForLine("   [ ] Buy eggs")
                    #expect(try fixture.texts() == ["Buy eggs"])
                    #expect(try await todo.run("add", "Buy milk").status == 0)
                    try await waitForLine("[ ] Buy milk")
                    try await fixture.put("bread", "Buy bread")
                    try await waitForLine("[ ] Buy bread")
                    try watch.send(signal: .interrupt)
                    while try await lines.next() != nil {}
                }
                #expect(result.terminationStatus == .exited(0))
            }
        }
    }

    @Test func `watch shows that the server cannot be reached`() async throws {
        let (shown, continuation) = AsyncStream.makeStream(of: Void.self)
        let console = Console { if $0.contains("cannot be reached") { continuation.yield() } }
        let port = try RefusingPort()
        let url = try #require(URL(string: "http://127.0.0.1:\(port.number)"))
        let app = TodoApp(context: try TodoFixture.app(url).context, console: console, storeName: "")
        try await app.add("Buy eggs")
        try await app.watch { for await _ in shown { return } }
    }

    @Test func `watch marks a change that the server refuses, and shows the reason`() async throws {
        try await TodoFixture.run { fixture in
            fixture.server.onRequest { request in
                guard request.method == "POST" else { return .none }
                return .answer(
                    status: 400, headers: ["Content-Type": "application/json"],
                    body: Data(#"{"error":"No eggs"}"#.utf8))
            }
            let (shown, continuation) = AsyncStream.makeStream(of: Void.self)
            let transcript = Transcript()
            let console = Console { text in
                transcript.console().write(text)
                let parts = [" ! [ ] Buy eggs", "No eggs", "todo conflicts"]
                if parts.allSatisfy(transcript.text.contains) { continuation.yield() }
            }
            let app = TodoApp(context: try fixture.app().context, console: console, storeName: "")
            try await app.add("Buy eggs")
            try await app.watch { for await _ in shown { return } }
            #expect(!transcript.text.contains("pushResult"))
        }
    }
}
