// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Synchronization

/// A delegate that sometimes edits the item, throws, skips an operation, executes it twice, or cancels the push.
final class DrawnDelegate: SyncContextDelegate {
    private let device: SimulatedDevice
    private let random: Mutex<SimulationRandom>
    private let log: @Sendable (String) -> Void
    private let isHealed: @Sendable () -> Bool

    private struct Refusal: Error {}

    init(
        _ seed: UInt64, device: SimulatedDevice, isHealed: @escaping @Sendable () -> Bool,
        log: @escaping @Sendable (String) -> Void
    ) {
        self.device = device
        self.isHealed = isHealed
        self.log = log
        random = Mutex(SimulationRandom(seed, device.number, SimulationRandom.Stream.delegate.rawValue))
    }

    func syncContext(_ context: SyncContext, perform operation: PushOperation) async throws -> Item? {
        let choice = isHealed() ? 99 : random.withLock { $0.below(40) }
        if choice < 7 { log("\(device.name) delegate: choice \(choice) for \(operation.operation.itemID)") }
        switch choice {
        case 0: throw Refusal()
        case 1:
            _ = try await operation.execute()
            throw Refusal()
        case 2:
            operation.cancelPush()
            return nil
        case 3: return nil
        case 4:
            _ = try? await operation.execute()
            return try await operation.execute()
        case 5:
            edit(operation)
            return try await operation.execute()
        case 6:
            do {
                return try await operation.execute()
            } catch let error as TableOperationError where error.isConflict && error.serverItem != nil {
                return try await keepClient(operation, error)
            }
        default: return try await operation.execute()
        }
    }

    /// Replaces a field, as a delegate does that completes items before they are sent.
    private func edit(_ operation: PushOperation) {
        guard operation.operation.kind != .delete, var item = operation.item, item.fields["a"] != nil else {
            return
        }
        let key = RowKey(table: operation.operation.table, id: item.id)
        device.history.overrule(key, upTo: History.newestNumber(in: item), column: "a")
        item.fields["a"] = item.fields["b"].flatMap { EditValue.number($0) }.map(ItemValue.int) ?? .null
        operation.item = item
    }

    /// Sends the item again in place of the server's row.
    private func keepClient(_ operation: PushOperation, _ error: TableOperationError) async throws -> Item? {
        guard var item = operation.item, let row = error.serverItem, operation.operation.kind != .delete
        else {
            throw error
        }
        device.history.see(RowKey(table: error.table, id: error.itemID), row)
        item.system = row.system
        item.system.deleted = false
        operation.item = item
        return try await operation.execute()
    }
}
