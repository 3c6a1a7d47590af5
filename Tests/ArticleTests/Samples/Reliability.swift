// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import SyncSimulation
import Testing

/// The samples of the article "Reliability".
@Suite struct ReliabilitySamples {
    private enum TodoItem {
        static let definition = SyncTableDefinition(
            "TodoItem", columns: [SyncColumn("text", .text), SyncColumn("complete", .bool)])
    }

    private func simulate() throws {
        var app = SimulatedApp(tables: [TodoItem.definition])
        app.resolver = .fieldMerge(onClash: .serverWins)
        let simulation = Simulation(app: app)
        for seed in UInt64(0)..<1000 {
            if let failure = try simulation.run(seed: seed).failure {
                print("seed \(seed): \(failure)")
                print(try simulation.shrink(seed: seed)?.acts.joined(separator: "\n") ?? "")
            }
        }
    }

    @Test func `a simulation of an app with a resolver runs`() throws {
        var app = SimulatedApp(tables: [TodoItem.definition])
        app.resolver = .fieldMerge(onClash: .serverWins)
        #expect(!(try Simulation(app: app).run(seed: 1, isTraced: true).trace.isEmpty))
    }
}
