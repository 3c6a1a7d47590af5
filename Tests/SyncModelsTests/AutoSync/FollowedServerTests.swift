// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreMemory
import SyncModels
import Testing

@testable import SyncSimulation

/// Automatic syncs that follow the server's change feed.
@Suite struct FollowedServerTests {
    private static let settings = {
        var settings = AutoSync.Settings()
        settings.followsChangeFeed = true
        return settings
    }()

    /// Starts a device that follows the server, and waits until it has pulled everything.
    private func followingDevice(
        _ system: VirtualSystem, settings: AutoSync.Settings = FollowedServerTests.settings
    ) async throws -> (device: VirtualDevice, run: VirtualTask<Void>) {
        let device = try system.device(autoSync: settings)
        device.network.hasChangeFeed = true
        let run = device.run()
        await system.advance(.seconds(100))
        _ = device.network.newRequests()
        return (device, run)
    }

    @Test func `a change on the server is pulled at once, and only its table`() async throws {
        try await VirtualSystem.run { system in
            let (device, _) = try await followingDevice(system)
            system.server.write("theirs", ["text": .text("theirs")], in: "TodoItem", isLate: false)
            await system.advance(.seconds(3))
            #expect(try await device.texts() == ["theirs": "theirs"])
            let requests = device.network.newRequests()
            #expect(requests.contains("GET TodoItem") && !requests.contains("GET TodoList"))
        }
    }

    @Test func `one request waits for all tables, and nothing is pulled while nothing changes`() async throws
    {
        try await VirtualSystem.run { system in
            let (device, _) = try await followingDevice(system)
            await system.advance(.seconds(1000))
            let requests = device.network.newRequests()
            #expect(Set(requests) == ["GET TodoItem changes"])
            // A request waits 25 seconds, and the next one follows a second later.
            #expect((35...40).contains(requests.count))
        }
    }

    @Test func `a server without a change feed is asked once`() async throws {
        try await VirtualSystem.run { system in
            let device = try system.device(autoSync: Self.settings)
            device.run()
            await system.advance(.seconds(10_000))
            #expect(device.network.requests.count { $0.summary == "GET TodoItem changes" } == 1)
        }
    }

    @Test func `a server that has a row in the place of the feed is asked once`() async throws {
        try await VirtualSystem.run { system in
            let device = try system.device(autoSync: Self.settings)
            system.server.write("changes", ["text": .text("a row")], in: "TodoItem", isLate: false)
            device.run()
            await system.advance(.seconds(10_000))
            #expect(device.network.requests.count { $0.summary == "GET TodoItem changes" } == 1)
        }
    }

    @Test func `a web page before the first answer of the feed does not end following`() async throws {
        try await VirtualSystem.run { system in
            let device = try system.device(autoSync: Self.settings)
            device.network.hasChangeFeed = true
            device.network.condition = .portal
            device.run()
            await system.advance(.seconds(100))
            device.network.condition = .up
            device.sync.signal(.networkAvailable)
            await system.advance(.seconds(100))
            system.server.write("theirs", ["text": .text("theirs")], in: "TodoItem", isLate: false)
            await system.advance(.seconds(3))
            #expect(try await device.texts() == ["theirs": "theirs"])
        }
    }

    @Test func `after an answer of the feed, another response does not end following`() async throws {
        try await VirtualSystem.run { system in
            let (device, _) = try await followingDevice(system)
            device.network.hasChangeFeed = false
            system.server.write("changes", ["text": .text("a row")], in: "TodoItem", isLate: false)
            await system.advance(.seconds(1000))
            _ = device.network.newRequests()
            device.network.hasChangeFeed = true
            await system.advance(.seconds(600))
            system.server.write("theirs", ["text": .text("theirs")], in: "TodoItem", isLate: false)
            await system.advance(.seconds(3))
            #expect(try await device.texts()["theirs"] == "theirs")
        }
    }

    @Test func `a mark that the server no longer knows is not sent again`() async throws {
        try await VirtualSystem.run { system in
            let (device, _) = try await followingDevice(system)
            let mark = system.server.changeCount
            device.network.refusedMarks = mark...mark
            await system.advance(.seconds(100))
            system.server.write("first", ["text": .text("first")], in: "TodoItem", isLate: false)
            await system.advance(.seconds(1000))
            system.server.write("theirs", ["text": .text("theirs")], in: "TodoItem", isLate: false)
            await system.advance(.seconds(3))
            #expect(try await device.texts() == ["first": "first", "theirs": "theirs"])
        }
    }

    @Test func `a server that refuses every mark is asked less and less often`() async throws {
        try await VirtualSystem.run { system in
            let (device, _) = try await followingDevice(system)
            device.network.refusedMarks = 0...Int.max
            await system.advance(.seconds(10_000))
            let requests = device.network.newRequests().count { $0 == "GET TodoItem changes" }
            #expect((10...400).contains(requests))
            device.network.refusedMarks = nil
            await system.advance(.seconds(600))
            system.server.write("theirs", ["text": .text("theirs")], in: "TodoItem", isLate: false)
            await system.advance(.seconds(3))
            #expect(try await device.texts() == ["theirs": "theirs"])
        }
    }

    @Test func `in the background the feed is not followed, and in the foreground it is again`() async throws
    {
        try await VirtualSystem.run { system in
            let (device, _) = try await followingDevice(system)
            device.sync.signal(.background)
            await system.advance(.seconds(100))
            _ = device.network.newRequests()
            await system.advance(.seconds(10_000))
            #expect(device.network.newRequests() == [])
            device.sync.signal(.foreground)
            await system.advance(.seconds(1))
            #expect(device.network.newRequests().contains("GET TodoItem changes"))
        }
    }

    @Test func `without network the feed is asked after the delays of failures, and at once when it is back`()
        async throws
    {
        try await VirtualSystem.run { system in
            let (device, _) = try await followingDevice(system)
            device.network.condition = .down
            await system.advance(.seconds(10_000))
            let attempts = device.network.newRequests().count { $0 == "GET TodoItem changes" }
            #expect((30...200).contains(attempts))
            device.network.condition = .up
            device.sync.signal(.networkAvailable)
            await system.advance(.seconds(1))
            #expect(device.network.newRequests().contains("GET TodoItem changes"))
        }
    }

    @Test func `after an outage a round that the server answers ends the pause of the feed`() async throws {
        try await VirtualSystem.run { system in
            var settings = Self.settings
            (settings.initialBackoff, settings.maxBackoff) = (.seconds(1_000_000), .seconds(1_000_000))
            let (device, _) = try await followingDevice(system, settings: settings)
            device.network.condition = .down
            await system.advance(.seconds(60))
            device.network.condition = .up
            _ = device.network.newRequests()
            try await device.insert("milk")
            await system.advance(.seconds(3))
            #expect(device.network.newRequests().prefix(2) == ["POST TodoItem", "GET TodoItem changes"])
        }
    }

    @Test func `an answer of the feed shows that the network is back`() async throws {
        try await VirtualSystem.run { system in
            let (device, _) = try await followingDevice(system)
            device.sync.signal(.networkUnavailable)
            await system.advance(.milliseconds(10))
            #expect(device.sync.state.phase == .offline)
            await system.advance(.seconds(60))
            #expect(device.sync.state.phase == .idle(next: nil))
        }
    }

    @Test func `a feed that alone is refused is asked after the delays of failures`() async throws {
        try await VirtualSystem.run { system in
            let (device, _) = try await followingDevice(system)
            device.network.hiddenTables = ["changes"]
            await system.advance(.seconds(10_000))
            let attempts = device.network.newRequests().count { $0 == "GET TodoItem changes" }
            #expect((30...200).contains(attempts))
        }
    }

    @Test func `after 401 the feed is asked again when the user has signed in`() async throws {
        try await VirtualSystem.run { system in
            let (device, _) = try await followingDevice(system)
            device.network.condition = .status(401)
            await system.advance(.seconds(10_000))
            let requests = device.network.newRequests()
            // The feed of the other table might need no sign-in.
            let feed = "GET TodoItem changes"
            #expect(requests == [feed, "GET TodoList", feed, "GET TodoItem"])
            #expect(device.sync.state.phase == .needsSignIn)
            device.network.condition = .up
            device.sync.signal(.signedIn)
            await system.advance(.seconds(60))
            #expect(device.network.newRequests().count { $0 == "GET TodoItem changes" } >= 2)
            #expect(device.sync.state.phase == .idle(next: nil))
        }
    }

    @Test func `a 401 of the feed alone stops neither pushes nor pulls`() async throws {
        try await VirtualSystem.run { system in
            let (device, _) = try await followingDevice(system)
            device.network.refusesChangeFeed = true
            await system.advance(.seconds(200))
            #expect(device.network.newRequests() == ["GET TodoItem changes", "GET TodoList", "GET TodoItem"])
            #expect(device.sync.state.phase == .idle(next: nil))
            try await device.insert("mine")
            await system.advance(.seconds(60))
            #expect(try await device.pending() == 0)
            _ = device.network.newRequests()
            await system.advance(.seconds(3000))
            let count = device.network.newRequests().count { $0 == "GET TodoItem changes" }
            #expect((8...11).contains(count))
            device.network.refusesChangeFeed = false
            device.sync.signal(.foreground)
            await system.advance(.seconds(60))
            #expect(device.network.newRequests().count { $0 == "GET TodoItem changes" } >= 2)
        }
    }

    @Test func `a round that the server answers resumes the requests to the feed`() async throws {
        try await VirtualSystem.run { system in
            let (device, _) = try await followingDevice(system)
            device.network.condition = .status(401)
            await system.advance(.seconds(100))
            device.network.condition = .up
            _ = device.network.newRequests()
            _ = try await system.perform { try await device.sync.syncNow() }
            await system.advance(.seconds(60))
            #expect(device.network.newRequests().contains("GET TodoItem changes"))
        }
    }

    @Test func `the feed is not asked before the time that the server has asked for`() async throws {
        try await VirtualSystem.run { system in
            let (device, _) = try await followingDevice(system)
            device.network.condition = .status(503, retryAfter: "7200")
            await system.advance(.seconds(7000))
            #expect(device.network.newRequests() == ["GET TodoItem changes"])
            device.network.condition = .up
            device.sync.signal(.foreground)
            await system.advance(.seconds(100))
            #expect(device.network.newRequests() == [])
            await system.advance(.seconds(200))
            #expect(device.network.newRequests().contains("GET TodoItem changes"))
        }
    }

    @Test func `a table that the server does not have does not prevent following the others`() async throws {
        try await VirtualSystem.run { system in
            let tables = try VirtualSystem.tables() + [SyncTableDefinition("Unknown", columns: [])]
            let device = try system.device(
                pulls: [Todo.all.pull(), PullPlan(TableQuery("Unknown"))],
                store: try MemoryStore(tables: tables), autoSync: Self.settings)
            device.network.hasChangeFeed = true
            device.run()
            await system.advance(.seconds(100))
            _ = device.network.newRequests()
            system.server.write("theirs", ["text": .text("theirs")], in: "TodoItem", isLate: false)
            await system.advance(.seconds(3))
            #expect(try await device.texts() == ["theirs": "theirs"])
            #expect(!device.network.newRequests().contains("GET Unknown"))
        }
    }

    @Test func `a table that the server hides leaves the others followed, and is followed when it is back`()
        async throws
    {
        try await VirtualSystem.run { system in
            let (device, _) = try await followingDevice(system)
            device.network.hiddenTables = ["TodoList"]
            await system.advance(.seconds(100))
            system.server.write("a", ["text": .text("a")], in: "TodoItem", isLate: false)
            await system.advance(.seconds(3))
            #expect(try await device.texts() == ["a": "a"])
            #expect(device.sync.state.lastError?.code == .pullAborted)
            await system.advance(.seconds(10_000))
            let attempts = device.network.newRequests().count { $0 == "GET TodoList" }
            #expect((30...40).contains(attempts))
            device.network.hiddenTables = []
            await system.advance(.seconds(330))
            #expect(device.sync.state.lastError == nil)
            _ = device.network.newRequests()
            system.server.write("list", ["name": .text("list")], in: "TodoList", isLate: false)
            await system.advance(.seconds(3))
            #expect(device.network.newRequests().contains("GET TodoList"))
        }
    }

    @Test func `a table that is hidden between two runs does not prevent following the others`() async throws
    {
        try await VirtualSystem.run { system in
            let (device, run) = try await followingDevice(system)
            run.cancel()
            await system.advance(.seconds(100))
            device.network.hiddenTables = ["TodoList"]
            device.run()
            await system.advance(.seconds(100))
            system.server.write("a", ["text": .text("a")], in: "TodoItem", isLate: false)
            await system.advance(.seconds(3))
            #expect(try await device.texts() == ["a": "a"])
        }
    }

    @Test func `while the server hides every table, the sync waits for them`() async throws {
        try await VirtualSystem.run { system in
            let (device, _) = try await followingDevice(system)
            device.network.hiddenTables = ["TodoList", "TodoItem"]
            await system.advance(.seconds(1000))
            device.network.hiddenTables = []
            await system.advance(.seconds(330))
            system.server.write("a", ["text": .text("a")], in: "TodoItem", isLate: false)
            await system.advance(.seconds(3))
            #expect(try await device.texts() == ["a": "a"])
        }
    }

    @Test func `a plan that is not valid is reported, and the tables of the others are followed`()
        async throws
    {
        try await VirtualSystem.run { system in
            let device = try system.device(
                pulls: [PullPlan(TableQuery("Unknown")), Todo.all.pull()], autoSync: Self.settings)
            device.network.hasChangeFeed = true
            device.run()
            await system.advance(.seconds(100))
            #expect(device.sync.state.lastError?.code == .unknownTable)
            system.server.write("theirs", ["text": .text("theirs")], in: "TodoItem", isLate: false)
            await system.advance(.seconds(3))
            #expect(try await device.texts() == ["theirs": "theirs"])
            #expect(device.sync.state.lastError?.code == .unknownTable)
        }
    }

    @Test func `closing the context ends the waiting requests and the sync`() async throws {
        try await VirtualSystem.run { system in
            let (device, run) = try await followingDevice(system)
            try await system.perform { try await device.context.close() }
            await system.advance(.seconds(1))
            #expect(run.result != nil)
        }
    }
}
