// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncModels
import Testing

@testable import todo

@Suite struct DeletionConflictTests {
    @Test(arguments: [true, false], [ConflictChoice.client, .server])
    func `a row deleted on the server and edited on the device`(softDelete: Bool, choice: ConflictChoice)
        async throws
    {
        try await TodoFixture.run(softDelete: softDelete) { fixture in
            let transcript = Transcript(answers: [choice == .client ? "c" : "s"])
            let app = try fixture.app(transcript)
            try await fixture.put("eggs", "Buy eggs")
            try await app.sync(onConflict: nil)
            try await app.edit("eggs", text: "Buy eggs (6)")
            try await fixture.remove("eggs")
            try await app.sync(onConflict: nil)
            #expect(transcript.text.contains(softDelete ? "(deleted)" : "(no such row)"))
            #expect(transcript.unusedAnswers == 0)
            let expected = choice == .client ? ["Buy eggs (6)"] : []
            #expect(try fixture.texts() == expected)
            #expect(try await app.texts() == expected)
            #expect(try await app.context.pendingOperationCount() == 0)
        }
    }

    @Test(arguments: [ConflictChoice.client, .server])
    func `a row deleted on the device and edited on the server`(choice: ConflictChoice) async throws {
        try await TodoFixture.run { fixture in
            let transcript = Transcript(answers: [choice == .client ? "c" : "s"])
            let app = try fixture.app(transcript)
            try await fixture.put("eggs", "Buy eggs")
            try await app.sync(onConflict: nil)
            try await app.delete("eggs")
            try await fixture.put("eggs", "Buy organic eggs")
            try await app.sync(onConflict: nil)
            #expect(transcript.unusedAnswers == 0)
            let expected = choice == .client ? [] : ["Buy organic eggs"]
            #expect(try fixture.texts() == expected)
            #expect(try await app.texts() == expected)
            #expect(try await app.context.pendingOperationCount() == 0)
        }
    }

    @Test(arguments: [true, false])
    func `a row inserted on the device and on the server`(isDeletedOnServer: Bool) async throws {
        try await TodoFixture.run { fixture in
            let app = try fixture.app()
            try await app.table.raw.insert(["id": "eggs", "text": "Buy eggs (6)", "complete": false])
            try await fixture.put("eggs", "Buy organic eggs")
            if isDeletedOnServer { try await fixture.remove("eggs") }
            try await app.sync(onConflict: .client)
            #expect(try fixture.texts() == ["Buy eggs (6)"])
            #expect(try await app.texts() == ["Buy eggs (6)"])
        }
    }
}
