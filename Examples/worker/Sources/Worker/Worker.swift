// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logging
import ServiceLifecycle
import StoreLMDB
import SyncModels

struct Measurement: SyncModel {
    var id = SyncID<Measurement>(), value = 0.0
    static let schema = ModelSchema("Measurement", Measurement(), .field("value", \.value))
}

/// Syncs until the service group shuts down, then sends what is pending.
struct SyncService: Service {
    let sync: AutoSync

    func run() async throws {
        await cancelWhenGracefulShutdown { await sync.run() }
        _ = await sync.finish(within: .seconds(10))
    }
}

/// Stores a measurement each second.
struct MeasuringService: Service {
    let context: SyncContext

    func run() async throws {
        try await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                try await context.table(Measurement.self).insert(Measurement(value: .random(in: 0..<1)))
                try? await Task.sleep(for: .seconds(1))
            }
        }
    }
}

/// A background worker: `Worker FILE URL`. Control-C or SIGTERM shuts it down.
@main struct Worker {
    static func main() async throws {
        guard CommandLine.arguments.count == 3, let url = URL(string: CommandLine.arguments[2]) else {
            return print("usage: Worker FILE URL")
        }
        let store = try LMDBStore(path: CommandLine.arguments[1], tables: .models(Measurement.self))
        // On Linux, a worker passes an `AsyncHTTPTransport`: see the article "Getting started".
        let context = SyncContext(client: SyncClient(url: url), dataSource: store)
        let group = ServiceGroup(
            services: [
                SyncService(sync: AutoSync(context, pulls: [])), MeasuringService(context: context),
            ],
            gracefulShutdownSignals: [.sigint, .sigterm], logger: Logger(label: "worker"))
        try await group.run()
        let pending = try await context.pendingOperationCount()
        if pending > 0 { print("Measurements that the next start sends: \(pending)") }
        try await context.close()
    }
}
