// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncSimulation

/// Runs many seeds, and counts what happened in them.
struct LongRun {
    private let options: Options
    private var failures: [SimulationFailure.Invariant: [UInt64]] = [:]
    private var coverage = SimulationCoverage()
    private var count: UInt64 = 0
    private let startTime = ContinuousClock.now

    /// One in this number of seeds runs twice, to compare the runs.
    private static let seedsPerRepetition: UInt64 = 50
    /// How many failures of one invariant are shrunk and printed with their scripts.
    private static let maxShrunk = 2
    private static let seedsPerProgressLine: UInt64 = 50_000

    init(_ options: Options) throws {
        self.options = options
        let simulation = Simulation()
        for seed in options.first..<(options.first + options.seeds) {
            let isRepeated = seed % Self.seedsPerRepetition == 0
            let report = try simulation.run(seed: seed, isTraced: isRepeated)
            count += 1
            coverage.merge(report.coverage)
            if isRepeated, try simulation.run(seed: seed, isTraced: true).trace != report.trace {
                printLine("seed \(seed): two runs differ")
                failures[.error, default: []].append(seed)
                if options.stopsAtFailure { return }
            }
            if count.isMultiple(of: Self.seedsPerProgressLine), count < options.seeds { printLine(rateLine) }
            guard let failure = report.failure else { continue }
            failures[failure.invariant, default: []].append(seed)
            printLine("seed \(seed): \(failure)")
            if options.stopsAtFailure { return }
            if failures[failure.invariant, default: []].count <= Self.maxShrunk {
                try printScript(of: seed, simulation)
            }
        }
    }

    private func printScript(of seed: UInt64, _ simulation: Simulation) throws {
        for act in try simulation.shrink(seed: seed)?.acts ?? [] { printLine("    \(act)") }
        printLine("    replay: Scripts/simulate --replay \(seed)")
    }

    var hasSucceeded: Bool { failures.isEmpty && (!options.requiresCoverage || coverage.missing.isEmpty) }

    private var rateLine: String {
        let rate = Int(Double(count) / max((ContinuousClock.now - startTime) / .seconds(60), 0.00001))
        return "\(count) seeds, \(rate) a minute; failures: \(failures.values.map(\.count).reduce(0, +))"
    }

    var summary: String {
        var lines = [rateLine]
        for (invariant, seeds) in failures.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            lines.append(
                "  \(invariant): \(seeds.count), seeds \(seeds.prefix(8).map(String.init).joined(separator: " "))"
            )
        }
        let (pairs, missing) = (coverage.pairSummary, coverage.missing)
        lines.append("  \(pairs.pairs) pairs of acts, the rarest \(pairs.rarest) times")
        lines.append("  \(missing.count) required events and pairs of acts never happened")
        return (lines + (options.requiresCoverage ? coverageLines : [])).joined(separator: "\n")
    }

    /// How often everything happened, and what never did, one a line.
    private var coverageLines: [String] {
        coverage.counts.sorted { $0.key < $1.key }.map { "\($0.value)\t\($0.key)" }
            + coverage.missing.map { "never\t\($0)" }
    }
}

/// Prints a line at once, so that it is there when the run is ended.
func printLine(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
