// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A contender of a workload whose instructions are counted.
struct CountedPath {
    let workload: String
    let contender: String

    private init(_ workload: String, _ contender: String) {
        (self.workload, self.contender) = (workload, contender)
    }

    var name: String { "\(workload) \(contender)" }

    /// The paths whose counts are recorded: see `instructions.txt`.
    static let all = [
        "local-write.batch.insert", "local-write.batch.update", "collapse.updates", "read.by-id",
        "pull.engine.page-1000", "push.engine",
    ].flatMap { workload in StoreKind.allCases.map { CountedPath(workload, $0.rawValue) } }
}
