// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

extension StoreRule {
    /// Random scripts, compared with the memory store.
    @RuleList static var model: [StoreRule] {
        StoreRule(
            "model.scripts",
            "After any script of transactions, questions and reopenings, the store says what the memory store says.",
            level: .full
        ) { run in
            for number in 0..<UInt64(run.effort.modelScripts) { try run.runScript(seed: run.seed &+ number) }
        }
        StoreRule("model.repeats", "The same script gives the same answers on a fresh store.", level: .full) {
            run in
            let script = ModelScript(seed: run.seed, length: 200, reopens: try run.isDurable)
            let machine = run.machine(named: "repeats")
            try run.expect(
                try machine.run(script.steps, at: 0) == machine.run(script.steps, at: 1),
                "Both runs gave the same.")
        }
    }
}

extension RuleRun {
    fileprivate var isDurable: Bool { get throws { try store.capabilities.isDurable } }

    fileprivate func machine(named name: String) -> ModelMachine {
        ModelMachine { [harness, path] place in
            try harness.open(at: try path("\(name)-\(place)"), tables: Fixture.tables)
        }
    }

    /// Runs one script; a difference is shrunk to the shortest script that shows it.
    func runScript(seed: UInt64) throws {
        let script = ModelScript(seed: seed, length: effort.modelLength, reopens: try isDurable)
        let machine = machine(named: "model\(seed)")
        do {
            _ = try machine.run(script.steps, at: 0)
            try expect(true, "The script of seed \(seed) was run.")
        } catch let difference as ModelMachine.Difference {
            let (steps, shortest) = machine.shrunk(script.steps, firstPlace: 0) ?? (script.steps, difference)
            throw StoreRuleFailure(
                ruleID: rule.id, sentence: rule.sentence, store: harness.name,
                subject: "\(shortest.subject) (\(script.steps.count) random steps, shrunk to \(steps.count))",
                expected: shortest.expected, actual: shortest.actual, operations: steps.map(\.description),
                seed: seed, effort: effort, remedy: rule.remedy)
        }
    }
}
