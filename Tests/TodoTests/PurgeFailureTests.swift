// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

@testable import todo

@Suite struct PurgeFailureTests {
    @Test func `the message of a purge refused by a conflict names the change, the cause and the option`()
        async throws
    {
        try await TodoFixture.run { fixture in
            let app = try fixture.app()
            try await fixture.put("eggs", "Buy eggs")
            try await app.pullWithProgress()
            try await app.edit("eggs", text: "Buy eggs (6)")
            try await fixture.put("eggs", "Buy organic eggs")
            await expectFailure(
                of: app, containing: "Nothing was removed", "update \"Buy eggs (6)\"", "-1303",
                "purge --discard"
            ) { try await app.purge(pending: .push) }
            #expect(try await app.texts() == ["Buy eggs (6)"])
        }
    }

    @Test func `a purge without a network, and one with the option to refuse, remove nothing`() async throws {
        let app = try TodoFixture.app(try #require(URL(string: "http://127.0.0.1:9")))
        try await app.add("Buy eggs")
        await expectFailure(
            of: app, containing: "Nothing was removed", "cannot be reached", "purge --discard"
        ) { try await app.purge(pending: .push) }
        await expectFailure(
            of: app, containing: "Nothing was removed", "1 change is queued", "purge --discard"
        ) {
            try await app.purge(pending: .refuse)
        }
        #expect(try await app.texts() == ["Buy eggs"])
    }
}
