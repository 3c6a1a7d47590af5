// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import SyncModels
import TableServer
import Testing

@testable import todo

@Suite struct LongTextTests {
    private let longText = String(repeating: "Buy eggs and ", count: 40) + "milk"

    @Test func `a long text is shortened in lists, and shown in full with an option`() async throws {
        try await TodoFixture.run { fixture in
            let transcript = Transcript()
            let app = try fixture.app(transcript)
            try await app.add(longText)
            try await app.list(TodoItem.all.raw)
            try await app.status()
            #expect(transcript.lines.allSatisfy { $0.count < 110 }, "\(transcript.text)")
            #expect(transcript.text.contains("…"))
            let command = try #require(try Todo.parseAsRoot(["list", "--full"]) as? List)
            try await command.run(app)
            #expect(transcript.lines.contains { $0.hasSuffix(longText) })
        }
    }

    @Test func `a conflict of long texts shows both in full`() async throws {
        try await TodoFixture.run { fixture in
            let transcript = Transcript()
            let app = try fixture.app(transcript)
            try await fixture.put("eggs", "Buy eggs")
            try await app.pullWithProgress()
            try await app.edit("eggs", text: longText + " here")
            try await fixture.put("eggs", longText + " there")
            try? await app.push(onConflict: .cancel)
            #expect(
                transcript.lines.contains { $0.hasPrefix("  client") && $0.hasSuffix(longText + " here") })
            #expect(
                transcript.lines.contains { $0.hasPrefix("  server") && $0.hasSuffix(longText + " there") })
        }
    }

    @Test(arguments: [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧", 2, "👩‍👩‍👧…"), ("ab cd", 4, "ab…")])
    func `shortening keeps whole characters`(text: String, count: Int, expected: String) {
        #expect(text.shortened(to: count) == expected)
    }
}
