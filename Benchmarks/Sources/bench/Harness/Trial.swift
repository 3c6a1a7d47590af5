// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import CInstructionCount
import Foundation
import Synchronization

/// One run of one contender, with a separate directory and a stopwatch.
final class Trial: Sendable {
    /// An empty directory that is removed after the run.
    let directory: URL
    /// The number of the round, from 0. Contenders that write to shared stores vary their data by it.
    let round: Int
    private let time = Mutex<Sample?>(nil)

    init(directory: URL, round: Int) {
        self.directory = directory
        self.round = round
    }

    /// Runs and measures the body. Work outside the body is not measured.
    func measure<T>(_ body: () async throws -> T) async throws -> T {
        let (wall, cpu) = (ContinuousClock.now, Sample.processTime)
        instruction_count_start()
        let result = try await body()
        instruction_count_stop()
        let sample = Sample(wall: wall.duration(to: .now) / .seconds(1), cpu: Sample.processTime - cpu)
        try time.withLock { time in
            guard time == nil else { throw WrongResult("A run was measured twice.") }
            time = sample
        }
        return result
    }

    /// Records the memory of the measured part.
    func record(_ memory: PeakMemory) { time.withLock { $0?.memory = memory } }

    /// Records the latencies of the measured part.
    func record(_ latencies: Latencies) { time.withLock { $0?.latencies = latencies } }

    /// Returns the path of a file in the directory.
    func path(_ name: String) -> String { directory.appendingPathComponent(name).path }

    func sample() throws -> Sample {
        guard let sample = time.withLock({ $0 }) else { throw WrongResult("A run was not measured.") }
        return sample
    }
}

/// The time of one run in seconds.
struct Sample: Sendable, Codable {
    /// Wall-clock time.
    let wall: Double
    /// Processor time of this process, over all processors.
    let cpu: Double
    /// The peak memory, if it was measured.
    var memory: PeakMemory?
    /// The latencies of requests, if they were measured.
    var latencies: Latencies?

    fileprivate static var processTime: Double { Double(clock()) / Double(CLOCKS_PER_SEC) }
}

/// How long requests took, in seconds.
struct Latencies: Sendable, Codable {
    /// Half of the requests took at most this long.
    let median: Double
    /// 99 of 100 requests took at most this long.
    let percentile99: Double
    let longest: Double

    /// - Parameter times: the time of each request.
    init(_ times: [Double]) {
        let sorted = times.sorted()
        func percentile(_ share: Double) -> Double {
            sorted.isEmpty ? .nan : sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]
        }
        (median, percentile99, longest) = (percentile(0.5), percentile(0.99), sorted.last ?? .nan)
    }
}

/// A benchmark has a wrong result.
struct WrongResult: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
