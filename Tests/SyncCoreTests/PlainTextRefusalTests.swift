// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Testing

@testable import SyncCore

/// Web frameworks send a plain text with the type of HTML, unless the app sets another type.
@Suite struct PlainTextRefusalTests {
    private static let html: HTTPFields = [.contentType: "text/html; charset=utf-8"]

    private func response(
        _ status: Int, headers: HTTPFields = [:], _ body: String
    ) async throws -> RemoteResponse {
        try await SyncClient.scripted(ScriptedTransport(status, headers: headers, body))
            .send(RemoteCall(.insert(id: "a", fields: [:]), table: "T"))
    }

    @Test(arguments: 400...499)
    func `a text with the type of HTML is read as a plain text if the status is 4xx`(_ status: Int)
        async throws
    {
        for body in ["Title too long", "\u{FEFF} Title too long", #"{"error":"#] {
            let typed = try await response(status, headers: Self.html, body)
            let plain = try await response(status, body)
            #expect(typed.classification == plain.classification)
            #expect(typed.body == plain.body)
            #expect(typed.message == plain.message)
        }
    }

    @Test func `the text of a refusal with the type of HTML is its message`() async throws {
        let response = try await response(400, headers: Self.html, "Title too long")
        #expect(response.classification == .unknown)
        #expect(response.message == "Title too long")
    }

    @Test(arguments: [200, 302, 400, 403, 404, 409, 413, 500, 503])
    func `markup is a web page, whatever its type`(_ status: Int) async throws {
        for body in ["<p>Sign in</p>", " \n<html>", "\u{FEFF}\n<html>"] {
            for headers in [[:], Self.html, [.contentType: "text/plain"]] as [HTTPFields] {
                #expect(try await response(status, headers: headers, body).classification == .unavailable)
            }
        }
    }

    @Test(arguments: [200, 201, 302, 500, 503])
    func `a text with the type of HTML and another status is a web page`(_ status: Int) async throws {
        let response = try await response(status, headers: Self.html, "Sign in")
        #expect(response.classification == .unavailable)
        #expect(response.message == "The server responded with an HTML page.")
    }

    @Test func `a blank body with the type of HTML is a web page`() async throws {
        #expect(try await response(400, headers: Self.html, " \n").classification == .unavailable)
    }
}
