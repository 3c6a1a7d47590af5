// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// One workload with several contenders, which must have the same result.
struct Benchmark {
    /// The name for `--filter`, such as `pull.engine.page-1000`.
    let name: String
    /// A description of the workload for the report.
    let title: String
    /// The number of units of work in one run; costs are per unit.
    let count: Int
    /// The name of one unit of work.
    let unit: String
    /// The contenders. Each round runs all of them, one after another.
    var contenders: [Contender]
    /// The comparisons of the report.
    let lines: [ReportLine]
    /// The maximum number of rounds.
    var maxRounds = 5
    /// The title of the horizontal axis of a line chart, if the contenders differ in size.
    var sizeName: String?
    /// Releases what the contenders share.
    var tearDown: (@Sendable () async throws -> Void)?
}

/// An implementation of a workload.
struct Contender {
    /// The name within the benchmark, such as `SQLite` or `floor SQLite`.
    let name: String
    /// The size of the data, if the benchmark varies it.
    var size: Int?
    /// Prepares the run, does the work in ``Trial/measure(_:)``, and returns a checksum of the result.
    let run: @Sendable (Trial) async throws -> Int

    init(_ name: String, size: Int? = nil, run: @escaping @Sendable (Trial) async throws -> Int) {
        self.name = name
        self.size = size
        self.run = run
    }
}

/// A comparison in the report.
struct ReportLine {
    /// The framework's contender.
    let ours: String
    /// The contender that makes only the necessary database calls, if any.
    var floor: String?
    /// The contender that works as a hand-written app, if any.
    var peer: String?
    /// The goals of the comparison.
    var goals: [Goal] = []

    init(_ ours: String, floor: String? = nil, peer: String? = nil, goals: [Goal] = []) {
        self.ours = ours
        self.floor = floor
        self.peer = peer
        self.goals = goals
    }
}

/// The goal of a comparison.
enum Goal {
    /// The framework is at least this many times as fast as the floor.
    case ofFloor(Double)
    /// The framework is at least this many times as fast as the peer.
    case ofPeer(Double)
    /// The framework's cost is at most this many times the cost of the named contender.
    case atMost(Double, times: String)
    /// The framework is at least this many times as fast as the slowest of the named contenders.
    case ofSlowest(Double, of: [String])
    /// One unit of work takes at most this many seconds.
    case seconds(Double)
    /// The process has at most this many bytes in memory.
    case memory(Int)
}
