// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncSimulation

/// Runs simulations of the framework: see `Scripts/simulate`.
@main
struct Main {
    static func main() throws {
        guard let options = Options(CommandLine.arguments.dropFirst()) else {
            print(Options.usage)
            exit(2)
        }
        if let seed = options.replay { return try replay(seed) }
        if let store = options.comparedStore {
            let comparison = try StoreComparison(store, options.first..<options.first + options.seeds)
            print(comparison.summary)
            exit(comparison.differenceCount == 0 ? 0 : 1)
        }
        let run = try LongRun(options)
        print(run.summary)
        if !run.hasSucceeded { exit(1) }
    }

    /// Prints the trace of a seed; if the seed fails, of the shortest script that fails.
    private static func replay(_ seed: UInt64) throws {
        guard let script = try Simulation().shrink(seed: seed) else {
            for line in try Simulation().run(seed: seed, isTraced: true).trace { print(line) }
            return print("seed \(seed): no failure")
        }
        for line in script.trace { print(line) }
        print("\nThe shortest script that fails (\(script.acts.count) acts):")
        for act in script.acts { print("  \(act)") }
        print("seed \(seed): \(script.failure)")
        exit(1)
    }
}

/// The options of the command line.
struct Options {
    var seeds: UInt64 = 2000
    var first: UInt64 = 0
    var replay: UInt64?
    var stopsAtFailure = false
    /// Whether everything that a long run has to count must have happened.
    var requiresCoverage = false
    /// The store whose runs are compared with runs in memory.
    var comparedStore: StoreComparison.Store?

    static let usage = """
        simulate [--seeds N] [--first N] [--until-failure] [--require-coverage]
        simulate --compare sqlite|lmdb [--seeds N] [--first N]
        simulate --replay SEED
        """

    init?(_ arguments: ArraySlice<String>) {
        var arguments = arguments
        while let option = arguments.popFirst() {
            switch option {
            case "--until-failure": stopsAtFailure = true
            case "--require-coverage": requiresCoverage = true
            case "--compare":
                comparedStore = arguments.popFirst().flatMap(StoreComparison.Store.init)
                guard comparedStore != nil else { return nil }
            case "--seeds", "--first", "--replay":
                guard let number = arguments.popFirst().flatMap(UInt64.init) else { return nil }
                switch option {
                case "--seeds": seeds = number
                case "--first": first = number
                default: replay = number
                }
            default: return nil
            }
        }
        // Without a seed nothing is checked.
        guard seeds > 0, !first.addingReportingOverflow(seeds).overflow else { return nil }
    }
}
