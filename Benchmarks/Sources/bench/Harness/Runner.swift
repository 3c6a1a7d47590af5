// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Runs benchmarks and collects their measurements.
struct Runner {
    let rounds: Int
    /// The parent of the runs' directories.
    let directory: URL

    /// Sets up a benchmark and runs its contenders, one after another, in several rounds.
    ///
    /// - Parameter names: The contenders to run; all if empty.
    /// - Throws: ``WrongResult`` when the contenders of a round have different results; the errors of contenders.
    func run(_ workload: Workload, only names: [String] = []) async throws -> BenchmarkResult {
        let shared = SharedDirectory(url: directory.appendingPathComponent("shared-\(UUID().uuidString)"))
        try FileManager.default.createDirectory(at: shared.url, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: shared.url) }
        var benchmark = workload.load(shared)
        if !names.isEmpty { benchmark.contenders.removeAll { !names.contains($0.name) } }
        let result = try await run(benchmark)
        try await benchmark.tearDown?()
        return result
    }

    private func run(_ benchmark: Benchmark) async throws -> BenchmarkResult {
        var samples: [[Sample]] = benchmark.contenders.map { _ in [] }
        for round in 0..<min(rounds, benchmark.maxRounds) {
            var checksums: [(name: String, value: Int)] = []
            // Each round starts with a different contender, so that order effects cancel out.
            for offset in benchmark.contenders.indices {
                let index = (offset + round) % benchmark.contenders.count
                let contender = benchmark.contenders[index]
                let (checksum, sample) = try await run(contender, round: round)
                checksums.append((contender.name, checksum))
                samples[index].append(sample)
            }
            for (name, value) in checksums where value != checksums[0].value {
                throw WrongResult(
                    """
                    \(benchmark.name): the result of \(name) is \(value), \
                    that of \(checksums[0].name) is \(checksums[0].value).
                    """)
            }
        }
        let figures = zip(benchmark.contenders, samples).map { contender, samples in
            Figures(
                contender: contender.name, size: contender.size, count: benchmark.count, samples: samples)
        }
        return BenchmarkResult(benchmark: benchmark, figures: figures)
    }

    private func run(_ contender: Contender, round: Int) async throws -> (Int, Sample) {
        let runDirectory = directory.appendingPathComponent("run-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: runDirectory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: runDirectory) }
        let trial = Trial(directory: runDirectory, round: round)
        let checksum = try await contender.run(trial)
        return (checksum, try trial.sample())
    }
}

/// A benchmark with its measurements.
struct BenchmarkResult {
    let benchmark: Benchmark
    let figures: [Figures]

    subscript(name: String) -> Figures? { figures.first { $0.contender == name } }
}
