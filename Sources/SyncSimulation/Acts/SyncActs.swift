// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Synchronization

/// Pushes, pulls and purges.
extension SimulatedSystem {
    func push(_ act: Act, _ device: SimulatedDevice, _ context: SyncContext) async throws {
        switch act.feature {
        case .pushTable: try await context.push(tables: [table(act, device).name])
        case .pushBudget: try await context.push(budget: PushBudget(operations: 1))
        default:
            let reported = Set(try await context.push().errors.map(\.operationID))
            let waiting = try await context.pendingOperations().filter {
                $0.state == .parked && !reported.contains($0.id)
            }
            // An automatic sync can have parked it since.
            if let first = waiting.first, device.processes.first?.sync == nil {
                fail(
                    .unreported,
                    "\(device.name): push() returned with the parked \(first.kind) \(first.itemID).")
            }
        }
    }

    /// Pushes again and again while the server cannot be reached, more often than the retry budget allows retries.
    func pushDuringOutage(_ act: Act, _ process: SimulatedProcess) async {
        process.transport.partition(SimulatedTransport.Partition(end: .max, isOneWay: false))
        for number in 0..<UInt64(60) {
            // Each push has a separate act number, so that its first requests are not retries.
            await CurrentAct.$number.withValue(act.number | number << 32) {
                _ = try? await process.context.push()
            }
            if process.store.hasEnded { return }
        }
        process.transport.endPartition()
    }

    func pull(_ act: Act, _ device: SimulatedDevice, _ context: SyncContext) async throws {
        var random = act.random
        var settings = pullSettings
        settings.pageSize = random.pick([1, 2, 50])
        let all = query(act, device)
        switch act.feature {
        case .pullFiltered:
            // The token of another filter does not count.
            let number: Int64 = random.pick([40, 40, 120])
            let table = table(act, device)
            try await checkingRows(of: table, device, where: { isAbove(number, $0, table) }) {
                try await context.pull(filter(above: number, table), queryID: "some", settings: settings)
            }
        case .pullWhole:
            try await checkingRows(of: table(act, device), device) {
                try await context.pull(all, settings: settings)
            }
        case .pullSkip:
            settings.strategy = .skip
            try await context.pull(all, queryID: "skip", settings: settings)
        case .pullAnyway:
            settings.pending = .pullAnyway
            try await checkingRows(of: table(act, device), device) {
                try await context.pull(all, queryID: "all", settings: settings)
            }
        case .pullLimited: try await context.pull(all.order(by: "id").limit(1), settings: settings)
        case .pullPages:
            // The app stops after the first page.
            for try await _ in context.pulling(all, queryID: "all", settings: settings) { return }
        default:
            try await checkingRows(of: table(act, device), device) {
                try await context.pull(all, queryID: "all", settings: settings)
            }
        }
    }

    /// Cancels a push or pull after a while, or some steps after it has received a response.
    func cancel(_ act: Act, _ device: SimulatedDevice, _ process: SimulatedProcess) async {
        var random = act.random
        let query = query(act, device)
        let (context, settings) = (process.context, pullSettings)
        let call = Task(executorPreference: scheduler) {
            if act.feature == .cancelPush {
                _ = try? await context.push()
            } else {
                _ = try? await context.pull(query, queryID: "all", settings: settings)
            }
        }
        if random.percent(50) {
            scheduler.schedule(after: random.logUniform(below: 4_000_000_000)) { call.cancel() }
        } else {
            let (scheduler, steps) = (scheduler, random.below(12))
            process.transport.onResponse(of: act.number) { scheduler.enqueue(after: steps) { call.cancel() } }
        }
        await call.value
    }

    /// Removes rows that the server does not have, and pulls those that are missing, of a whole table or a part of it.
    func reconcile(_ act: Act, _ device: SimulatedDevice, _ context: SyncContext) async throws {
        var random = act.random
        let table = table(act, device)
        let some = random.percent(30) ? filter(above: 40, table) : query(act, device)
        try await context.reconcile(some, pageSize: 2, removingMost: true)
    }

    func purge(_ act: Act, _ device: SimulatedDevice, _ context: SyncContext) async throws {
        var random = act.random
        let query = query(act, device)
        let keepsTokens = random.percent(30) && act.feature != .purgeAll
        if keepsTokens { device.state.withLock { $0.lacksPurgedRows = true } }
        let some = random.percent(30) ? filter(above: 40, table(act, device)) : query
        switch act.feature {
        case .purgePushing: try await context.purge(some, pending: .push, keepingDeltaTokens: keepsTokens)
        case .purgeRefusing: try await context.purge(some, pending: .refuse, keepingDeltaTokens: keepsTokens)
        case .purgeDiscarding:
            try await discard(device, where: { $0.table == query.table }) {
                try await context.purge(query, pending: .discard, keepingDeltaTokens: keepsTokens)
            }
        default:
            guard random.percent(50) else { return try await context.purgeAll() }
            try await discard(device, where: { _ in true }) {
                try await context.purgeAll(pending: .discard)
            }
        }
    }

    /// Purges with pending operations, and records that the app discarded its edits. A process can crash between the commit
    /// and the end of the call, and the commit may not be confirmed.
    private func discard(
        _ device: SimulatedDevice, where isDiscarded: @escaping @Sendable (RowKey) -> Bool,
        _ purge: () async throws -> Void
    ) async throws {
        do { try await purge() } catch let error as SyncError where error.leavesOutcomeOpen {
            let left = try device.disk.store.read { snapshot in
                try snapshot.operations(after: 0, in: nil, limit: .max)
                    .map { RowKey(table: $0.table, id: $0.itemID) }
            }
            try giveUp(device) { isDiscarded($0) && !left.contains($0) }
            throw error
        }
        try giveUp(device, where: isDiscarded)
    }

    /// Records that the app gave up its edits of rows, except items that it has changed in its database, also after the purge,
    /// and not queued yet.
    private func giveUp(
        _ device: SimulatedDevice, where isDiscarded: @escaping @Sendable (RowKey) -> Bool
    ) throws {
        let unqueued = device.state.withLock(\.unqueued)
        let catalog = device.disk.store.catalog
        let written = try device.disk.store.read { snapshot in
            try unqueued.filter { key in
                try catalog.contains(key.table) && snapshot.item(id: key.id, in: key.table) != nil
            }
        }
        let isGivenUp = { @Sendable key in isDiscarded(key) && !written.contains(key) }
        device.history.giveUp(where: isGivenUp)
        device.state.withLock { state in
            state.unqueued = state.unqueued.filter { !isGivenUp($0) }
            state.deletedRows = state.deletedRows.filter { !isGivenUp($0.key) }
        }
    }
}
