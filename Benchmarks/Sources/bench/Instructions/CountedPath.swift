// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A contender of a workload whose instructions are counted.
struct CountedPath: Codable, Hashable {
    let workload: String
    let contender: String

    init(_ workload: String, _ contender: String) {
        (self.workload, self.contender) = (workload, contender)
    }

    var name: String { "\(workload) \(contender)" }

    /// The paths whose counts are recorded: see `instructions.txt`.
    static let all = [
        CountedPath("local-write.batch.insert", "SQLite"), CountedPath("local-write.batch.insert", "LMDB"),
        CountedPath("local-write.batch.insert", "memory"), CountedPath("local-write.batch.update", "SQLite"),
        CountedPath("local-write.batch.update", "LMDB"), CountedPath("local-write.batch.update", "memory"),
        CountedPath("collapse.updates", "SQLite"), CountedPath("collapse.updates", "LMDB"),
        CountedPath("collapse.updates", "memory"), CountedPath("pull.engine.page-1000", "SQLite"),
        CountedPath("pull.engine.page-1000", "LMDB"), CountedPath("pull.engine.page-1000", "memory"),
    ]
}
