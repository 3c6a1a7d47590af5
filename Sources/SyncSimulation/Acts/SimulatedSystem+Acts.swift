// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Synchronization

extension SimulatedSystem {
    /// Performs one act.
    func carryOut(_ act: Act, on device: SimulatedDevice, _ process: SimulatedProcess) async throws {
        let context = process.context
        if act.feature.removesRows { device.state.withLock { $0.removalCount += 1 } }
        defer { if act.feature.removesRows { device.state.withLock { $0.removalCount += 1 } } }
        switch act.feature {
        case .insert, .update, .replace, .replaceCopy, .delete, .batch: try await edit(act, device, context)
        case .enqueueExisting, .enqueueChange, .enqueueDeletion: try await enqueue(act, device, context)
        case .pushOutage: await pushDuringOutage(act, process)
        case .close: try await close(act, device, process)
        case .push, .pushTable, .pushBudget: try await push(act, device, context)
        case .pull, .pullFiltered, .pullWhole, .pullSkip, .pullAnyway, .pullLimited, .pullPages:
            try await pull(act, device, context)
        case .reconcile: try await reconcile(act, device, context)
        case .purgePushing, .purgeRefusing, .purgeDiscarding, .purgeAll: try await purge(act, device, context)
        case .cancelPush, .cancelPull: await cancel(act, device, process)
        case .discard, .keepServer, .keepClient, .changeKind, .replay: try await decide(act, device, context)
        case .observe: try observe(device, process)
        case .restart:
            device.restart(Int(act.number))
        case .changeSchema: changeSchema(act, device)
        case .failStore, .crash, .crashAfterCommit: injectStoreFault(act, process)
        case .partition: partition(act, process)
        case .serverWrite, .serverDelete, .breakRow, .refuseRow, .changePageCap, .stepServerClock,
            .collectTombstones:
            changeServer(act)
        }
    }

    /// The table of an act, as the device declares it now.
    func table(_ act: Act, _ device: SimulatedDevice) -> SyncTableDefinition {
        let tables = device.disk.store.catalog.tables
        return tables.first { $0.name == app.tables[act.table].name } ?? tables[0]
    }

    func query(_ act: Act, _ device: SimulatedDevice) -> TableQuery { TableQuery(table(act, device).name) }
}

extension SyncError {
    /// Whether the call may have committed its changes: its process has crashed, or its commit is not confirmed.
    var leavesOutcomeOpen: Bool {
        code == .contextInvalid || (cause as? StoreError)?.code == .outcomeUnknown
    }
}
