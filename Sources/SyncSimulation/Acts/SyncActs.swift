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
            try await context.push()
            let waiting = try await context.pendingOperations().filter { $0.state == .parked }
            if let first = waiting.first {
                fail(
                    .unreported,
                    "\(device.name): push() returned with the parked \(first.kind) \(first.itemID).")
            }
        }
    }

    func pull(_ act: Act, _ device: SimulatedDevice, _ context: SyncContext) async throws {
        var random = act.random
        var settings = pullSettings
        settings.pageSize = random.pick([1, 2, 50])
        let all = query(act, device)
        switch act.feature {
        case .pullFiltered:
            // The token of another filter does not count.
            let number: Int64 = random.pick([40, 40, 400])
            try await context.pull(
                filter(above: number, table(act, device)), queryID: "some", settings: settings)
        case .pullWhole: try await context.pull(all, settings: settings)
        case .pullSkip:
            settings.strategy = .skip
            try await context.pull(all, queryID: "skip", settings: settings)
        case .pullAnyway:
            settings.pending = .pullAnyway
            try await context.pull(all, queryID: "all", settings: settings)
        case .pullLimited: try await context.pull(all.order(by: "id").limit(1), settings: settings)
        case .pullPages:
            // The app stops after the first page.
            for try await _ in context.pulling(all, queryID: "all", settings: settings) { return }
        default: try await context.pull(all, queryID: "all", settings: settings)
        }
    }

    func cancel(_ act: Act, _ device: SimulatedDevice, _ context: SyncContext) async {
        var random = act.random
        let delay = random.logUniform(below: 4_000_000_000)
        let query = query(act, device)
        let settings = pullSettings
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                if act.feature == .cancelPush {
                    _ = try? await context.push()
                } else {
                    _ = try? await context.pull(query, queryID: "all", settings: settings)
                }
            }
            try? await scheduler.sleep(delay)
            group.cancelAll()
        }
    }

    func purge(_ act: Act, _ device: SimulatedDevice, _ context: SyncContext) async throws {
        var random = act.random
        let query = query(act, device)
        let keepsTokens = random.percent(30) && act.feature != .purgeAll
        if keepsTokens { device.state.withLock { $0.lacksPurgedRows = true } }
        switch act.feature {
        case .purgePushing: try await context.purge(query, pending: .push, keepingDeltaTokens: keepsTokens)
        case .purgeRefusing: try await context.purge(query, pending: .refuse, keepingDeltaTokens: keepsTokens)
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
    /// and the end of the call.
    private func discard(
        _ device: SimulatedDevice, where isDiscarded: (RowKey) -> Bool, _ purge: () async throws -> Void
    ) async throws {
        do { try await purge() } catch let error as SyncError where error.code == .contextInvalid {
            let left = try? device.disk.store.read { try $0.operations(after: 0, in: nil, limit: .max) }
            let isCommitted =
                left?.contains { isDiscarded(RowKey(table: $0.table, id: $0.itemID)) } == false
            if isCommitted { giveUp(device, where: isDiscarded) }
            throw error
        }
        giveUp(device, where: isDiscarded)
    }

    private func giveUp(_ device: SimulatedDevice, where isDiscarded: (RowKey) -> Bool) {
        device.history.overrule(where: { isDiscarded($0.key) })
        device.state.withLock { state in
            state.unqueued = state.unqueued.filter { !isDiscarded($0) }
            state.deletedRows = state.deletedRows.filter { !isDiscarded($0.key) }
        }
    }
}
