// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import Testing

@testable import SyncSimulation

@Suite struct SimulationTests {
    @Test(arguments: 0..<8)
    func `no invariant fails in the first seeds`(_ block: Int) throws {
        for seed in UInt64(block * 30)..<UInt64(block * 30 + 30) { try expectSuccess(of: seed) }
    }

    @Test func `no invariant fails in the seeds that once failed`() throws {
        let url = try #require(Bundle.module.url(forResource: "Seeds", withExtension: "txt"))
        let lines = try String(contentsOf: url, encoding: .utf8).split(separator: "\n")
        let seeds = lines.compactMap { line in line.split(separator: " ").first.flatMap { UInt64($0) } }
        #expect(!seeds.isEmpty)
        for seed in seeds { try expectSuccess(of: seed) }
    }

    @Test func `the same seed gives the same trace`() throws {
        for seed in UInt64(1000)..<1010 {
            let traces = try (0..<2).map { _ in try Simulation().run(seed: seed, isTraced: true).trace }
            #expect(!traces[0].isEmpty)
            #expect(traces[0] == traces[1])
        }
    }

    @Test func `the lost updates of a server that ignores conditions are found, with a short script`() throws
    {
        var app = SimulatedApp.standard
        app.configureServer = { $0.ignoresConditions = true }
        let simulation = Simulation(app: app)
        let found = try (UInt64(0)..<200).first { seed in
            try simulation.run(seed: seed).failure?.invariant == .overwrite
        }
        let seed = try #require(found)
        let shrunk = try simulation.shrink(seed: seed)
        let script = try #require(shrunk)
        #expect(script.failure.invariant == .overwrite)
        #expect(script.acts.count <= 20)
        #expect(script.trace.contains { $0.contains("overwrite") })
    }

    @Test func `an app's own tables and resolver are simulated`() throws {
        var app = SimulatedApp(tables: [
            SyncTableDefinition(
                "Note",
                columns: [SyncColumn("title", .text), SyncColumn("due", .date), SyncColumn("rank", .double)])
        ])
        app.resolver = .fieldMerge(onClash: .serverWins)
        for seed in UInt64(0)..<30 {
            let failure = try Simulation(app: app).run(seed: seed).failure
            #expect(failure == nil, "seed \(seed): \(String(describing: failure))")
        }
    }

    private func expectSuccess(of seed: UInt64, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let failure = try Simulation().run(seed: seed).failure
        #expect(
            failure == nil, "seed \(seed): \(String(describing: failure))", sourceLocation: sourceLocation)
    }
}
