// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// An app's own request fails inside a push. Its URL can contain a secret, which no error shows or stores.
@Suite struct SecretURLTests {
    private static let failure = URLError(
        .timedOut,
        userInfo: [NSURLErrorFailingURLErrorKey: URL(fileURLWithPath: "/?refresh_token=CANARY")])

    private func expectNoSecret(in error: any Error) {
        #expect("\(Self.failure)".contains("CANARY"))
        #expect(!"\(error)".contains("CANARY"))
        #expect(!error.localizedDescription.contains("CANARY"))
    }

    /// Pushes an item in conflict with the server, or one that the delegate or the refresh of the token fails for.
    private func push(
        delegate: (any SyncContextDelegate)? = nil, settings: SyncSettings = .singleAttempt,
        refusing status: Int? = nil, _ body: (any Error, [TableOperationError]) -> Void
    ) async throws {
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device(
                delegate: delegate, settings: settings, refreshAuthentication: { throw Self.failure })
            try await a.table.insert(["id": "x", "text": "ours"])
            try await scenario.server.put("x", ["text": "theirs"], in: Todo.name)
            if let status { scenario.server.inject(.refusal(status)) }
            let error = await #expect(throws: SyncError.self) { try await a.context.push() }
            body(try #require(error), try await a.context.operationErrors())
        }
    }

    @Test func `the error of a push whose token could not be refreshed`() async throws {
        try await push(refusing: 401) { error, _ in expectNoSecret(in: error) }
    }

    @Test func `the error of an operation for which the delegate has failed`() async throws {
        let delegate = ClosureDelegate(perform: { _, _ in throw Self.failure })
        try await push(delegate: delegate) { error, recorded in
            expectNoSecret(in: error)
            #expect(recorded.count == 1)
            for error in recorded { expectNoSecret(in: error) }
        }
    }

    @Test func `the error of an operation for which the resolver has failed`() async throws {
        var settings = SyncSettings.singleAttempt
        settings.resolver = ConflictResolver { _ in throw Self.failure }
        try await push(settings: settings) { error, recorded in
            expectNoSecret(in: error)
            #expect(recorded.first?.message.hasPrefix("The conflict resolver failed") == true)
            for error in recorded { expectNoSecret(in: error) }
        }
    }
}
