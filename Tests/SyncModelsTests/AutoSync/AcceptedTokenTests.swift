// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing

@testable import SyncModels
@testable import SyncSimulation

/// A refresh of the token succeeds only after the server has refused a plan or a push.
@Suite struct AcceptedTokenTests {
    /// How many refreshes return no token, as if the user did not sign in.
    private final class Refreshes: Sendable {
        let failures: Mutex<Int>

        init(failures: Int) { self.failures = Mutex(failures) }

        func token() -> String? {
            failures.withLock { failures in
                defer { failures = max(0, failures - 1) }
                return failures == 0 ? "new" : nil
            }
        }
    }

    /// Runs the body with a device whose token has expired.
    private func run(
        _ refreshes: Refreshes, _ body: (VirtualSystem, VirtualDevice) async throws -> Void
    ) async throws {
        try await VirtualSystem.run { system in
            let device = try system.device(
                pulls: [TodoList.all.pull(), Todo.all.pull()], refresh: { refreshes.token() })
            device.context.client.authenticationToken = "expired"
            device.network.validToken = "new"
            system.server.write("b", ["text": .text("b")], in: "TodoItem", isLate: false)
            try await body(system, device)
        }
    }

    @Test func `a plan that was refused is pulled when another one gets a valid token`() async throws {
        try await run(Refreshes(failures: 1)) { system, device in
            device.run()
            await system.advance(.seconds(10))
            #expect(device.sync.state.phase == .idle(next: nil))
            #expect(device.network.newRequests().filter { $0 == "GET TodoList" }.count > 1)
            let texts = try await device.texts()
            #expect(texts == ["b": "b"])
        }
    }

    @Test func `changes that were refused are sent when another request gets a valid token`() async throws {
        let refreshes = Refreshes(failures: .max)
        try await run(refreshes) { system, device in
            try await device.insert("milk")
            device.run()
            await system.advance(.seconds(600))
            #expect(device.sync.state.phase == .needsSignIn)
            #expect(try await device.pending() == 1)
            refreshes.failures.withLock { $0 = 0 }
            try await system.perform { [context = device.context] in
                _ = try await context.client.table("TodoItem").read(id: "b")
            }
            await system.advance(.seconds(10))
            #expect(device.sync.state.phase == .idle(next: nil))
            #expect(try await device.pending() == 0)
        }
    }
}
