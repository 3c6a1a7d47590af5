// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// The cost of a local write while many operations are pending.
enum QueueDepth {
    static func updates(_ scale: Scale, _ directory: SharedDirectory) -> Benchmark {
        let depths = [0, 1000, 100_000, 1_000_000].map { $0 > 1000 ? scale.of($0) : $0 }
        let (count, batch) = (scale.of(20_000), 1000)
        let contenders = StoreKind.allCases.flatMap { kind in
            depths.map { depth in contender(kind, depth: depth, count: count, batch: batch, directory) }
        }
        return Benchmark(
            name: "collapse.queue-depth",
            title: "Update \(count) items, \(batch) per transaction, with other operations pending",
            count: count, unit: "update", contenders: contenders,
            lines: StoreKind.allCases.map { kind in
                ReportLine(
                    name(kind, depths[3]), goals: [.atMost(1.25, times: name(kind, depths[1]))])
            }, maxRounds: 2, sizeName: "pending operations")
    }

    private static func name(_ kind: StoreKind, _ depth: Int) -> String { "\(kind.rawValue) at \(depth)" }

    /// The updated items have no operation at first, so that updates both add operations and collapse.
    private static func contender(
        _ kind: StoreKind, depth: Int, count: Int, batch: Int, _ directory: SharedDirectory
    ) -> Contender {
        let store = Shared {
            let store = try kind.open(at: directory.path("queue"))
            try store.fillQueue(count: depth)
            try store.fill(count: 10_000)
            return store
        }
        return Contender(name(kind, depth), size: depth) { trial in
            let dataSource = try await store.value()
            let context = SyncContext(dataSource)
            let updates = (0..<count).map {
                TodoRow($0 % 10_000, generation: 1 + trial.round * 10 + $0 / 10_000)
            }
            .map { (id: $0.id, fields: $0.fields) }
            try await trial.measure {
                for start in stride(from: 0, to: count, by: batch) {
                    try await context.batch { local in
                        for update in updates[start..<start + batch] {
                            try local.update(id: update.id, update.fields, in: TodoRow.table)
                        }
                    }
                }
            }
            let operations = try dataSource.read { try $0.operationCount(in: nil) }
            return operations - depth
        }
    }
}
