// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreSQLite
import SyncModels
import TestSupport
import Testing

@testable import SyncSimulation

/// Automatic syncs of several processes that share one store.
@Suite struct AutoSyncProcessTests {
    /// Runs the body with two openings of one store, as two processes have them.
    private func withProcesses(
        _ body: (VirtualSystem, _ app: VirtualDevice, _ widget: VirtualDevice) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.appending(path: "store.sqlite").path()
            try await VirtualSystem.run { system in
                func process(_ name: String) throws -> VirtualDevice {
                    let store = try SQLiteStore(
                        path: path, tables: try VirtualSystem.tables(), sharing: .shared)
                    return try system.device(name, pulls: [Todo.all.pull(every: .seconds(60))], store: store)
                }
                let (app, widget) = (try process("app"), try process("widget"))
                try await body(system, app, widget)
                try await system.perform {
                    try await app.context.close()
                    try await widget.context.close()
                }
            }
        }
    }

    @Test func `one process syncs, and sends the changes of the other`() async throws {
        try await withProcesses { system, app, widget in
            app.run()
            await system.advance(.seconds(2))
            widget.run()
            await system.advance(.seconds(2))
            #expect(widget.sync.state.phase == .otherProcess)
            try await widget.insert("milk")
            await system.advance(.seconds(30))
            #expect(system.server.rows(of: "TodoItem").count == 1)
            #expect(try await widget.pending() == 0)
            await system.advance(.seconds(3600))
            #expect(widget.network.requests == [])
            #expect(app.network.requests.count { $0.summary == "POST TodoItem" } == 1)
        }
    }

    @Test func `another process syncs after the first one has ended`() async throws {
        try await withProcesses { system, app, widget in
            let run = app.run()
            await system.advance(.seconds(2))
            widget.run()
            await system.advance(.seconds(2))
            run.cancel()
            await system.advance(.seconds(31))
            #expect(widget.network.requests.count > 0)
            #expect(widget.sync.state.phase != .otherProcess)
        }
    }

    @Test func `a process in the background lets another one sync`() async throws {
        try await withProcesses { system, app, widget in
            app.run()
            await system.advance(.seconds(2))
            app.sync.signal(.background)
            await system.advance(.seconds(1))
            widget.run()
            await system.advance(.seconds(2))
            #expect(widget.network.requests.count > 0)
            app.sync.signal(.foreground)
            await system.advance(.seconds(2))
            #expect(app.sync.state.phase == .otherProcess)
        }
    }

    @Test(arguments: [VirtualNetwork.Condition.status(401), .status(503), .down])
    func `a process that cannot sync lets another one sync`(condition: VirtualNetwork.Condition) async throws
    {
        try await withProcesses { system, app, widget in
            app.network.condition = condition
            app.run()
            await system.advance(.seconds(2))
            widget.run()
            try await widget.insert("milk")
            await system.advance(.seconds(60))
            #expect(try await widget.pending() == 0)
            #expect(system.server.rows(of: "TodoItem").count == 1)
        }
    }

    @Test func `a process that waits because the server asks for it lets no other one ask`() async throws {
        try await withProcesses { system, app, widget in
            app.network.condition = .status(503, retryAfter: "600")
            app.run()
            await system.advance(.seconds(2))
            widget.run()
            try await widget.insert("milk")
            await system.advance(.seconds(500))
            #expect(widget.network.requests == [])
            app.network.condition = .up
            await system.advance(.seconds(120))
            #expect(try await widget.pending() == 0)
        }
    }

    @Test func `a sync that the user requests needs no lock`() async throws {
        try await withProcesses { system, app, widget in
            app.run()
            await system.advance(.seconds(2))
            try await widget.insert("milk")
            let result = try await system.perform { try await widget.sync.syncNow() }
            #expect(result.push.completed == 1)
        }
    }
}
