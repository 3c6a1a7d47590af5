// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// One run of one contender: a directory of its own, and a stopwatch.
final class Trial: Sendable {
    /// An empty directory that is removed after the run.
    let directory: URL
    /// The number of the round, from 0. Contenders that repeat writes vary their data with it.
    let round: Int
    private let time = Mutex<Sample?>(nil)

    init(directory: URL, round: Int) {
        self.directory = directory
        self.round = round
    }

    /// Runs the part that counts. Everything before and after it is free.
    func measure<T>(_ body: () async throws -> T) async throws -> T {
        let (wall, cpu) = (ContinuousClock.now, Sample.processTime)
        let result = try await body()
        let sample = Sample(wall: wall.duration(to: .now) / .seconds(1), cpu: Sample.processTime - cpu)
        try time.withLock { time in
            guard time == nil else { throw WrongResult("A run was measured twice.") }
            time = sample
        }
        return result
    }

    /// Adds how much memory the measured part took, where that was looked at.
    func note(_ memory: PeakMemory) { time.withLock { $0?.memory = memory } }

    /// The path of a file in the directory.
    func path(_ name: String) -> String { directory.appendingPathComponent(name).path }

    func sample() throws -> Sample {
        guard let sample = time.withLock({ $0 }) else { throw WrongResult("A run was not measured.") }
        return sample
    }
}

/// What one run took, in seconds.
struct Sample: Sendable, Codable {
    /// By the clock on the wall.
    let wall: Double
    /// Of all processors, by this process.
    let cpu: Double
    /// How much memory it took, where that was looked at.
    var memory: PeakMemory?

    fileprivate static var processTime: Double { Double(clock()) / Double(CLOCKS_PER_SEC) }
}

/// A benchmark came to another result than it must.
struct WrongResult: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
