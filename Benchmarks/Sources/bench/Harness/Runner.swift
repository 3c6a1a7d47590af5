// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Runs benchmarks and collects what they took.
struct Runner {
    let rounds: Int
    /// Where the directories of the runs are made.
    let directory: URL

    /// Sets a benchmark up and runs all its contenders in turn, as many rounds as are asked for.
    ///
    /// - Parameter names: the contenders to run; all of them when there are none.
    /// - Throws: ``WrongResult`` when contenders of a round come to different results; what a contender throws.
    func run(_ workload: Workload, only names: [String] = []) async throws -> BenchmarkResult {
        let place = Place(directory: directory.appendingPathComponent("shared-\(UUID().uuidString)"))
        try FileManager.default.createDirectory(at: place.directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: place.directory) }
        var benchmark = workload.load(place)
        if !names.isEmpty { benchmark.contenders.removeAll { !names.contains($0.name) } }
        let result = try await run(benchmark)
        try await benchmark.tearDown?()
        return result
    }

    private func run(_ benchmark: Benchmark) async throws -> BenchmarkResult {
        var samples: [[Sample]] = benchmark.contenders.map { _ in [] }
        for round in 0..<min(rounds, benchmark.maxRounds) {
            var checksums: [(name: String, value: Int)] = []
            // Each round begins with another contender, so that none always follows the same one.
            for place in benchmark.contenders.indices {
                let index = (place + round) % benchmark.contenders.count
                let contender = benchmark.contenders[index]
                let (checksum, sample) = try await run(contender, round: round)
                checksums.append((contender.name, checksum))
                samples[index].append(sample)
            }
            for (name, value) in checksums where value != checksums[0].value {
                throw WrongResult(
                    """
                    \(benchmark.name): \(name) came to \(value), \
                    \(checksums[0].name) to \(checksums[0].value).
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
        let place = directory.appendingPathComponent("run-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: place) }
        let trial = Trial(directory: place, round: round)
        let checksum = try await contender.run(trial)
        return (checksum, try trial.sample())
    }
}

/// A benchmark with its figures.
struct BenchmarkResult {
    let benchmark: Benchmark
    let figures: [Figures]

    subscript(name: String) -> Figures? { figures.first { $0.contender == name } }
}
