// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import SyncCore
import Testing

struct CredentialRedactionTests {
    @Test(arguments: ["X-ZUMO-AUTH", "Authorization", "x-zumo-application", "Cookie", "Api-Key"])
    func `descriptions and dumps hide credentials`(name: String) throws {
        let name = try #require(HTTPField.Name(name))
        let url = try #require(URL(string: "https://example.com"))
        let fields: HTTPFields = [name: "CANARY", .accept: "visible"]
        let request = HTTPTransportRequest(HTTPRequest(url: url, headerFields: fields))
        let response = HTTPTransportResponse(status: 200, headerFields: fields)
        var dumped = ""
        dump(request, to: &dumped)
        dump(response, to: &dumped)
        for text in [
            "\(request)", String(reflecting: request), "\(response)", String(reflecting: response), dumped,
        ] {
            #expect(!text.contains("CANARY"))
            #expect(text.contains("visible"))
        }
    }

    @Test func `a dump of a client hides its token and key`() throws {
        let url = try #require(URL(string: "https://example.com"))
        let client = SyncClient(
            url: url, transport: ScriptedTransport(200), applicationKey: "CANARY-key")
        client.authenticationToken = "CANARY-token"
        var dumped = ""
        dump(client, to: &dumped)
        #expect(!dumped.contains("CANARY"))
        #expect(!"\(client)".contains("CANARY"))
        #expect(dumped.contains("example.com"))
    }
}
