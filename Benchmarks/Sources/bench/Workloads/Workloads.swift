// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// A benchmark that is set up when it runs.
struct Workload {
    let name: String
    let load: (SharedDirectory) -> Benchmark

    init(_ name: String, _ load: @escaping (SharedDirectory) -> Benchmark) {
        self.name = name
        self.load = load
    }
}

/// All workloads in the order in which they run.
enum Workloads {
    /// - Parameter database: A connection string of a PostgreSQL database for servers, if there is one.
    static func all(_ scale: Scale, database: String? = nil) -> [Workload] {
        [
            Workload("json.page") { _ in JSONPages.decoding() },
            Workload("local-write.batch.insert") { _ in LocalWrites.inBatches(scale, kind: .insert) },
            Workload("local-write.batch.update") { _ in LocalWrites.inBatches(scale, kind: .update) },
            Workload("local-write.single") { _ in DurableWrites.single(scale) },
            Workload("local-write.concurrent") { _ in DurableWrites.concurrent(scale) },
            Workload("collapse.updates") { _ in Collapsing.updates(scale) },
            Workload("collapse.mixed") { _ in Collapsing.mixed(scale) },
            Workload("collapse.queue-depth") { QueueDepth.updates(scale, $0) },
            Workload("read.by-id") { Reads.byID(scale, $0) },
            Workload("read.by-id.busy") { Reads.byIDWhileWriting(scale, $0) },
            Workload("read.query.index") { Reads.query(scale, $0, isIndexed: true) },
            Workload("read.query.scan") { Reads.query(scale, $0, isIndexed: false) },
            Workload("read.all") { Reads.all(scale, $0) },
            Workload("read.typed") { TypedReads.all(scale, $0) },
            Workload("pull.engine.page-50") { _ in EnginePulls.firstPull(scale, pageSize: 50) },
            Workload("pull.engine.page-1000") { _ in EnginePulls.firstPull(scale, pageSize: 1000) },
            Workload("pull.delta.0") { DeltaPulls.pull(scale, $0, changes: 0) },
            Workload("pull.delta.100") { DeltaPulls.pull(scale, $0, changes: 100) },
            Workload("pull.loopback") { LoopbackPulls.firstPull(scale, $0) },
            Workload("pull.million") { _ in MillionRows.pull(scale) },
            Workload("push.engine") { _ in Pushes.pushInMemory(scale) },
            Workload("push.1") { _ in Pushes.push(scale, inFlight: 1) },
            Workload("push.8") { _ in Pushes.push(scale, inFlight: 8) },
            Workload("open") { Opening.open(scale, $0) },
            Workload("observe") { Observing.commits(scale, $0) },
            Workload("observe.unaffected") { _ in ObservedWrites.unaffected(scale) },
            Workload("observe.pull") { _ in ObservedWrites.firstPull(scale) },
        ] + ServerRequests.all(scale, database: database)
    }
}
