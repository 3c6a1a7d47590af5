// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SyncCore

/// A row in an error response is the server's, or an echo of the request. Its fields are no message.
@Suite struct RowInErrorResponseTests {
    private func message(_ status: Int, _ body: String) async throws -> String? {
        try await SyncClient.scripted(ScriptedTransport(status, body))
            .send(RemoteCall(.insert(id: "a", fields: [:]), table: "T")).message
    }

    @Test(arguments: ["description", "message", "detail", "title"], [400, 409, 412, 500])
    func `a field of a row is no message`(_ name: String, _ status: Int) async throws {
        #expect(try await message(status, #"{"id":"a","\#(name)":"mine"}"#) == nil)
        #expect(try await message(status, #"{"id":"a","\#(name)":"mine","error":null}"#) == nil)
        // One value is not valid JSON.
        #expect(try await message(status, #"{"id":"a","\#(name)":"mine","n":1e999}"#) == nil)
    }

    @Test(arguments: [
        (#"{"id":"e1","error":"No"}"#, "No"), (#"{"id":"e1","message":"M","error":"No"}"#, "No"),
        (#"{"id":"e1","error":{"message":"Nested"}}"#, "Nested"), (#"{"id":5,"message":"M"}"#, "M"),
        (#"{"message":"M"}"#, "M"),
    ])
    func `an error with an id keeps its message`(_ body: String, _ expected: String) async throws {
        #expect(try await message(409, body) == expected)
    }
}
