// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// One workload, done by several contenders that must come to the same result.
struct Benchmark {
    /// What `--filter` looks at, such as `pull.engine.page-1000`.
    let name: String
    /// What is done, in a sentence for the report.
    let title: String
    /// How many things one run does; costs are per thing.
    let count: Int
    /// What one such thing is called.
    let unit: String
    /// Who takes part. Each round runs all of them, one after the other.
    var contenders: [Contender]
    /// What is compared with what in the report.
    let lines: [Line]
    /// The most rounds that are worth their time.
    var maxRounds = 5
    /// What a line chart of this benchmark has on its horizontal axis, when contenders differ in size.
    var sizeName: String?
    /// Ends what the contenders share.
    var tearDown: (@Sendable () async throws -> Void)?
}

/// Someone who does the work of a benchmark.
struct Contender {
    /// The name within the benchmark, such as `SQLite` or `floor SQLite`.
    let name: String
    /// How large the data was, where that is what the benchmark varies.
    var size: Int?
    /// Prepares, does the work inside ``Trial/measure(_:)``, and returns a checksum of the result.
    let run: @Sendable (Trial) async throws -> Int

    init(_ name: String, size: Int? = nil, run: @escaping @Sendable (Trial) async throws -> Int) {
        self.name = name
        self.size = size
        self.run = run
    }
}

/// One comparison of the report.
struct Line {
    /// The contender that is ours.
    let ours: String
    /// The contender that does nothing but the calls that are needed, if there is one.
    var floor: String?
    /// The contender that does what an app's author would have written, if there is one.
    var peer: String?
    /// What the ratios have to reach.
    var goals: [Goal] = []

    init(_ ours: String, floor: String? = nil, peer: String? = nil, goals: [Goal] = []) {
        self.ours = ours
        self.floor = floor
        self.peer = peer
        self.goals = goals
    }
}

/// What a line is to reach.
enum Goal {
    /// Ours is at least so many times as fast as the floor.
    case ofFloor(Double)
    /// Ours is at least so many times as fast as the peer.
    case ofPeer(Double)
    /// Ours costs at most so many times what the named contender costs.
    case atMost(Double, times: String)
    /// Ours is at least so many times as fast as the slowest of the named contenders.
    case ofSlowest(Double, of: [String])
    /// One thing takes at most so many seconds.
    case seconds(Double)
    /// The process has at most so many bytes in memory.
    case memory(Int)
}
