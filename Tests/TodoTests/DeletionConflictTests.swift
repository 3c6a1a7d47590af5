// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Testing

@testable import todo

@Suite struct DeletionConflictTests {
    @Test(arguments: [true, false], [ConflictChoice.client, .server])
    func `deleted on the server, edited here`(softDelete: Bool, choice: ConflictChoice) async throws {
        try await Bench.run(softDelete: softDelete) { bench in
            let transcript = Transcript(answers: [choice == .client ? "c" : "s"])
            let app = try bench.app(transcript)
            try await bench.put("eggs", "Buy eggs")
            try await app.sync(onConflict: nil)
            try await app.edit("eggs", text: "Buy eggs (6)")
            try await bench.remove("eggs")
            try await app.sync(onConflict: nil)
            #expect(transcript.text.contains(softDelete ? "(deleted)" : "(no such row)"))
            #expect(transcript.unusedAnswers == 0)
            let expected = choice == .client ? ["Buy eggs (6)"] : []
            #expect(try bench.texts() == expected)
            #expect(try await app.texts() == expected)
            #expect(try await app.context.pendingOperationCount() == 0)
        }
    }

    @Test(arguments: [ConflictChoice.client, .server])
    func `deleted here, edited on the server`(choice: ConflictChoice) async throws {
        try await Bench.run { bench in
            let transcript = Transcript(answers: [choice == .client ? "c" : "s"])
            let app = try bench.app(transcript)
            try await bench.put("eggs", "Buy eggs")
            try await app.sync(onConflict: nil)
            try await app.delete("eggs")
            try await bench.put("eggs", "Buy organic eggs")
            try await app.sync(onConflict: nil)
            #expect(transcript.unusedAnswers == 0)
            let expected = choice == .client ? [] : ["Buy organic eggs"]
            #expect(try bench.texts() == expected)
            #expect(try await app.texts() == expected)
            #expect(try await app.context.pendingOperationCount() == 0)
        }
    }

    @Test(arguments: [true, false])
    func `inserted here and on the server`(softDeletedThere: Bool) async throws {
        try await Bench.run { bench in
            let app = try bench.app()
            try await app.table.insert(["id": "eggs", "text": "Buy eggs (6)", "complete": false])
            try await bench.put("eggs", "Buy organic eggs")
            if softDeletedThere { try await bench.remove("eggs") }
            try await app.sync(onConflict: .client)
            #expect(try bench.texts() == ["Buy eggs (6)"])
            #expect(try await app.texts() == ["Buy eggs (6)"])
        }
    }
}
