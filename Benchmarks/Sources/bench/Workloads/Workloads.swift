// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A benchmark that is not set up before it is its turn.
struct Workload {
    let name: String
    let load: () async throws -> Benchmark

    init(_ name: String, _ load: @escaping () async throws -> Benchmark) {
        self.name = name
        self.load = load
    }
}

/// All that is measured, in the order in which it is run.
enum Workloads {
    static func all(_ scale: Scale) -> [Workload] {
        [
            Workload("local-write.insert.batch") { LocalWrites.insertInBatches(scale) },
            Workload("collapse.updates") { Collapsing.updates(scale) },
            Workload("pull.engine.page-50") { EnginePulls.firstPull(scale, pageSize: 50) },
            Workload("pull.engine.page-1000") { EnginePulls.firstPull(scale, pageSize: 1000) },
        ]
    }
}
