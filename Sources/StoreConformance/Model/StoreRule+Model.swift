// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

extension StoreRule {
    /// Random scripts whose results are compared with the memory store's.
    @RuleList static var model: [StoreRule] {
        StoreRule(
            "model.scripts",
            "After any random script, the store returns what the memory store returns.",
            level: .full
        ) { run in
            for number in 0..<UInt64(run.effort.modelScripts) { try run.runScript(seed: run.seed &+ number) }
        }
        StoreRule("model.repeats", "The same script has the same results on a fresh store.", level: .full) {
            run in
            let script = ModelScript(seed: run.seed, length: 200, reopens: try run.isDurable)
            let machine = run.machine(named: "repeats")
            try run.expect(
                try machine.run(script.steps, at: 0) == machine.run(script.steps, at: 1),
                "Both runs have the same results.")
        }
    }
}

extension RuleRun {
    fileprivate var isDurable: Bool { get throws { try store.capabilities.isDurable } }

    fileprivate func machine(named name: String) -> ModelMachine {
        ModelMachine { [harness, path] storeIndex in
            try harness.open(at: try path("\(name)-\(storeIndex)"), tables: Fixture.tables)
        }
    }

    /// Runs one script; shrinks a difference to the shortest script that shows it.
    func runScript(seed: UInt64) throws {
        trace.startPart("run the random script of seed \(seed)")
        let script = ModelScript(seed: seed, length: effort.modelLength, reopens: try isDurable)
        let machine = machine(named: "model\(seed)")
        do {
            _ = try machine.run(script.steps, at: 0)
            try expect(true, "The script with seed \(seed) shows no difference.")
        } catch let difference as ModelMachine.Difference {
            // Each run is a part of the check, so that a slow store is not mistaken for one that is stuck.
            let shrunk = machine.shrunk(script.steps, firstStoreIndex: 0) { [trace] length in
                trace.startPart("run a script of \(length) steps, to find a shorter one with a difference")
            }
            let (steps, shortest) = shrunk ?? (script.steps, difference)
            let texts = ShortDifference(expected: shortest.expected, actual: shortest.actual)
            throw StoreRuleFailure(
                ruleID: rule.id, sentence: rule.sentence, store: harness.name,
                subject:
                    "\(shortest.subject.shortened(to: 400)) (\(script.steps.count) random steps, shrunk to \(steps.count))",
                expected: texts.expected, actual: texts.actual,
                operations: steps.map { $0.description.shortened(to: 400) },
                seed: seed, effort: effort,
                repetition: rule.repetition(on: harness, seed: seed, effort: effort), remedy: rule.remedy)
        }
    }
}
