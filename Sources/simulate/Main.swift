// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncSimulation

@main
struct Main {
    static func main() throws {
        let arguments = CommandLine.arguments
        if arguments.count > 2, arguments[1] == "replay", let seed = UInt64(arguments[2]) {
            guard let script = try Simulation().shrink(seed: seed) else { return print("no failure") }
            for line in script.acts + script.trace { print(line) }
            print(script.failure)
            return
        }
        func option(_ name: String) -> UInt64? {
            arguments.firstIndex(of: name).flatMap { arguments.dropFirst($0 + 1).first }.flatMap { UInt64($0) }
        }
        if arguments.contains("--until-failure") {
            let first = option("--first") ?? 0
            for seed in first..<(first + (option("--seeds") ?? 1000)) {
                if let failure = try Simulation().run(seed: seed).failure {
                    print("seed \(seed): \(failure)")
                    exit(1)
                }
            }
            return
        }
        let count = arguments.count > 1 ? UInt64(arguments[1]) ?? 1000 : 1000
        let first = arguments.count > 2 ? UInt64(arguments[2]) ?? 0 : 0
        let start = Date()
        var failures: [SimulationFailure.Invariant: [UInt64]] = [:]
        var coverage = SimulationCoverage()
        let simulation = Simulation()
        for seed in first..<(first + count) {
            let report = try simulation.run(seed: seed)
            coverage.merge(report.coverage)
            if let failure = report.failure {
                failures[failure.invariant, default: []].append(seed)
                if failures[failure.invariant]!.count <= 3 { print("seed \(seed): \(failure)") }
            }
        }
        let seconds = Date().timeIntervalSince(start)
        print("\(count) seeds in \(seconds) s; failures: \(failures.mapValues { "\($0.count) \($0.prefix(6))" })")
        print(coverage.missing.count, coverage.missing.prefix(60), coverage.pairSummary)
    }
}
