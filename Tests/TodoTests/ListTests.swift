// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import SyncModels
import TableServer
import Testing

@testable import todo

@Suite struct ListTests {
    /// Returns the lines that `list` prints for these arguments, without ids.
    private func listed(_ arguments: String..., in app: TodoApp, _ transcript: Transcript) async throws
        -> [String]
    {
        let lineCount = transcript.lines.count
        let command = try #require(try Todo.parseAsRoot(["list"] + arguments) as? List)
        try await command.run(app)
        return transcript.lines.dropFirst(lineCount).map { line in
            line.firstIndex(of: "[").map { String(line[$0...]) } ?? line
        }
    }

    @Test func `the list is filtered, ordered and limited by its options`() async throws {
        try await TodoFixture.run { fixture in
            let transcript = Transcript()
            let app = try fixture.app(transcript)
            for (id, text) in [("3", "Buy milk"), ("1", "Call mum"), ("2", "Buy eggs")] {
                try await fixture.put(id, text)
                fixture.server.clock.advance(by: .seconds(1))
            }
            try await app.sync(onConflict: nil)
            try await app.setComplete("2", true)

            let (eggs, milk, mum) = ("[x] Buy eggs", "[ ] Buy milk", "[ ] Call mum")
            let footer = "3 items, 1 change is queued"
            #expect(try await listed(in: app, transcript) == [eggs, milk, mum, footer])
            #expect(
                try await listed("--all", "--order", "created", in: app, transcript) == [
                    milk, mum, eggs, footer,
                ])
            #expect(try await listed("--open", in: app, transcript).dropLast() == [milk, mum])
            #expect(try await listed("--done", in: app, transcript).dropLast() == [eggs])
            #expect(try await listed("--containing", "Buy", in: app, transcript).dropLast() == [eggs, milk])
            #expect(
                try await listed("--limit", "1", in: app, transcript) == [
                    eggs, "1 of 3 items, 1 change is queued",
                ])
            try await app.sync(onConflict: nil)
            #expect(
                try await listed("--order", "updated", in: app, transcript) == [milk, mum, eggs, "3 items"])
        }
    }

    @Test func `queued and refused changes are marked`() async throws {
        try await TodoFixture.run { fixture in
            let transcript = Transcript()
            let app = try fixture.app(transcript)
            for id in ["a", "b", "c"] { try await fixture.put(id, id) }
            try await app.sync(onConflict: nil)
            try await app.edit("b", text: "b2")
            try await fixture.put("b", "b3")
            try? await app.sync(onConflict: .cancel)
            try await app.edit("c", text: "c2")
            let lineCount = transcript.lines.count
            try await app.list(TodoItem.all.raw)
            #expect(
                transcript.lines.dropFirst(lineCount).prefix(3) == ["a   [ ] a", "b ! [ ] b2", "c * [ ] c2"])
        }
    }

    @Test func `control characters are removed from texts`() {
        #expect("a\u{1B}[2Jb\nc\u{202E}d".printable == "a [2Jb c d")
        #expect("👩‍👩‍👧 é".printable == "👩‍👩‍👧 é")
    }

    @Test func `no command prints control characters of the server`() async throws {
        try await TodoFixture.run { fixture in
            let transcript = Transcript()
            let app = try fixture.app(transcript, isInteractive: false)
            let escape = "\u{1B}[2J"
            // Servers accept direction controls and separators of lines and paragraphs in ids.
            let (a, b) = ("\u{202E}a\u{2029}", "\u{2028}b")
            for id in [a, b] { try await fixture.put(id, "1\(escape)\u{202E}\(id)") }
            try await app.sync(onConflict: nil)
            try await app.edit(a, text: "2\(escape)a")
            try await fixture.put(a, "3\(escape)a")
            try? await app.sync(onConflict: nil)
            try await app.listConflicts()
            try await app.edit(b, text: "2\(escape)b")
            fixture.server.onRequest { request in
                guard request.method != "GET" else { return .none }
                let body = #"{"error":"no\u001b[2Jt \u202enow"}"#
                return .answer(
                    status: 400, headers: ["Content-Type": "application/json"], body: Data(body.utf8))
            }
            do { try await app.sync(onConflict: .cancel) } catch {
                app.console.printError(await app.userFacingError(for: error).localizedDescription)
            }
            try await app.list(TodoItem.all.raw)
            try await app.status()
            let printed = transcript.text
            #expect(printed.contains("2 [2J") && printed.contains("no [2Jt"))
            for scalar: Unicode.Scalar in ["\u{1B}", "\u{202E}", "\u{2028}", "\u{2029}"] {
                #expect(!printed.unicodeScalars.contains(scalar), "\(scalar.value)")
            }
        }
    }

    @Test func `ids and messages of several lines are printed without control characters`() {
        #expect(ShortIDs([]).short("\u{202E}abc\u{2028}d") == " abc d")
        #expect(Failure("one\u{202E}\ntwo\u{1B}[2J").message == "one \ntwo [2J")
    }
}
