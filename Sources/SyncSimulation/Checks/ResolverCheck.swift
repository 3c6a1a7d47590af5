// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Synchronization

/// The resolver is called for the conflicts of every page that a pull stores, also if the request of the next page fails.
extension SimulatedSystem {
    /// A conflict that a pull has stored with an operation.
    private struct StoredConflict: Hashable {
        let operationID: Int64
        let serverItem: Item
    }

    /// Performs an act that sends requests, and checks the conflicts that a failed pull leaves behind.
    func checkingResolver(
        _ device: SimulatedDevice, _ process: SimulatedProcess, _ act: () async throws -> Void
    ) async throws {
        // An act may retry a parked operation, whose conflict is then not a new one.
        let before = try storedConflicts(on: device) { _ in true }
        let wasAlone = device.state.withLock { state in
            state.syncCount += 1
            state.runningSyncs += 1
            return state.runningSyncs == 1
        }
        let count = device.state.withLock { $0.syncCount }
        defer { device.state.withLock { $0.runningSyncs -= 1 } }
        do { try await act() } catch let error as SyncError where error.code == .pullAborted {
            // Another push or pull resolves the conflicts that it finds.
            let isAlone = device.state.withLock { $0.syncCount == count && $0.hasDecidingResolver }
            if wasAlone, isAlone, process.sync == nil, !device.disk.isShared, !process.store.hasEnded {
                let pending = try storedConflicts(on: device) { $0 == .pending }
                for conflict in pending.subtracting(before) {
                    fail(
                        .resolver,
                        "\(device.name): a pull found a conflict of operation \(conflict.operationID), and did not call the "
                            + "resolver.")
                }
            }
            throw error
        }
    }

    private func storedConflicts(
        on device: SimulatedDevice, where hasState: (TableOperation.State) -> Bool
    ) throws -> Set<StoredConflict> {
        let operations = try device.disk.store.read { try $0.operations(after: 0, in: nil, limit: .max) }
        return Set(
            operations.compactMap { operation in
                guard hasState(operation.state) else { return nil }
                return operation.serverItem.map { StoredConflict(operationID: operation.id, serverItem: $0) }
            })
    }
}
