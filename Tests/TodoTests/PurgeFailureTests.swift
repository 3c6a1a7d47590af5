// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

@testable import todo

@Suite struct PurgeFailureTests {
    @Test func `a purge that a conflict prevents names the change, the cause and the way out`() async throws {
        try await Bench.run { bench in
            let app = try bench.app()
            try await bench.put("eggs", "Buy eggs")
            try await app.pullShowing()
            try await app.edit("eggs", text: "Buy eggs (6)")
            try await bench.put("eggs", "Buy organic eggs")
            await expectFailure(
                of: app, saying: "Nothing was removed", "update \"Buy eggs (6)\"", "-1303", "purge --discard"
            ) { try await app.purge(pending: .push) }
            #expect(try await app.texts() == ["Buy eggs (6)"])
        }
    }

    @Test func `so does a purge without a network, and one that is told to refuse`() async throws {
        let app = try Bench.app(try #require(URL(string: "http://127.0.0.1:9")))
        try await app.add("Buy eggs")
        await expectFailure(
            of: app, saying: "Nothing was removed", "cannot be reached", "purge --discard"
        ) { try await app.purge(pending: .push) }
        await expectFailure(of: app, saying: "Nothing was removed", "1 change is queued", "purge --discard") {
            try await app.purge(pending: .refuse)
        }
        #expect(try await app.texts() == ["Buy eggs"])
    }
}
