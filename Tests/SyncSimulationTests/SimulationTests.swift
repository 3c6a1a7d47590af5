// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TestSupport
import Testing

@testable import SyncSimulation

@Suite(.serialized) struct SimulationTests {
    @Test(arguments: 0..<4)
    func `no invariant fails in the first seeds`(_ block: Int) async throws {
        let failed = try await failures(of: (0..<30).map { UInt64(block * 30 + $0) })
        #expect(failed == [])
    }

    @Test func `no invariant fails in the seeds that once failed`() async throws {
        let url = try #require(Bundle.module.url(forResource: "Seeds", withExtension: "txt"))
        let lines = try String(contentsOf: url, encoding: .utf8).split(separator: "\n")
        let seeds = lines.compactMap { line in line.split(separator: " ").first.flatMap { UInt64($0) } }
        #expect(!seeds.isEmpty)
        let failed = try await failures(of: seeds)
        #expect(failed == [])
    }

    @Test func `the same seed gives the same trace`() async throws {
        for seed in UInt64(1000)..<1010 {
            let traces = try await onThread {
                try (0..<2).map { _ in try Simulation().run(seed: seed, isTraced: true).trace }
            }
            #expect(!traces[0].isEmpty)
            #expect(traces[0] == traces[1])
        }
    }

    @Test func `the lost updates of a server that ignores conditions are found, with a short script`()
        async throws
    {
        var app = SimulatedApp.standard
        app.configureServer = { $0.ignoresConditions = true }
        let simulation = Simulation(app: app)
        let shrunk = try await onThread {
            let seed = try (UInt64(0)..<200).first { seed in
                try simulation.run(seed: seed).failure?.invariant == .overwrite
            }
            return try seed.flatMap { try simulation.shrink(seed: $0) }
        }
        let script = try #require(shrunk)
        #expect(script.failure.invariant == .overwrite)
        #expect(script.acts.count <= 20)
        #expect(script.trace.contains { $0.contains("overwrite") })
    }

    @Test func `an app's own tables and resolver are simulated`() async throws {
        var app = SimulatedApp(tables: [
            SyncTableDefinition(
                "Note",
                columns: [SyncColumn("title", .text), SyncColumn("due", .date), SyncColumn("rank", .double)])
        ])
        app.resolver = .fieldMerge(onClash: .serverWins)
        let failed = try await failures(of: Array(0..<30), app)
        #expect(failed == [])
    }

    /// A rule that takes the server's row, except for one column; columns with the names of the framework's own test app; a
    /// parent that is declared after its child; and an operation that is parked at once.
    @Test func `an app's own rules and names are not taken for failures`() async throws {
        var app = SimulatedApp(tables: [
            SyncTableDefinition(
                "U", columns: [SyncColumn("note", .text), SyncColumn("stamp", .integer)], parents: ["List"]),
            SyncTableDefinition("List", columns: [SyncColumn("title", .text), SyncColumn("note", .integer)]),
        ])
        app.resolver = ConflictResolver { conflict in
            guard var item = conflict.serverItem, !item.system.deleted else { return .keepServer }
            item["note"] = conflict.clientItem?["note"] ?? .null
            return .merge(item)
        }
        app.configure = { $0.parkAfterRefusals = 1 }
        let failed = try await failures(of: Array(0..<60), app)
        #expect(failed == [])
    }

    @Test func `an app without a column that is edited is refused`() throws {
        let flags = SyncTableDefinition("Flag", columns: [SyncColumn("on", .bool)])
        for tables in [[flags], []] {
            let error = #expect(throws: SyncError.self) {
                try Simulation(app: SimulatedApp(tables: tables)).run(seed: 0)
            }
            #expect(error?.code == .invalidTableDefinition)
        }
    }

    /// Runs the seeds, and returns what failed.
    private func failures(of seeds: [UInt64], _ app: SimulatedApp? = nil) async throws -> [String] {
        try await onThread {
            try seeds.compactMap { seed in
                try Simulation(app: app).run(seed: seed).failure.map { "seed \(seed): \($0)" }
            }
        }
    }
}
