// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Synchronization

/// A delegate that executes most operations, and for some of them does something else that apps do.
final class DrawnDelegate: SyncContextDelegate {
    /// What the delegate does with an operation.
    private enum Choice: Int, CaseIterable {
        case refuse, refuseAfterSuccess, refuseAsCancelled, cancelPush, skip, executeTwice, editItem,
            keepClient, keepServer, readServer, returnLate
        case executeInTask, executeAtOnce, abandon, refuseFailure, limitTime, insertAlone
    }

    private struct Refusal: Error {}

    private let device: SimulatedDevice
    private let link: SystemLink
    private let seed: UInt64
    private let random: Mutex<SimulationRandom>
    /// The completed operations for which the delegate has thrown an error, by the act of their push.
    private let refusedAfterSuccess = Mutex<[UInt64: Set<Int64>]>([:])
    /// Items that the user removed with their operations before the delegate returned a row of them.
    private let removed = Mutex<[Removal]>([])

    /// An item that is missing when the delegate returns its row.
    private struct Removal {
        let key: RowKey
        let edits: Int
        let syncs: Int
    }

    /// Each ``Choice`` is made for one in this number of operations.
    private let operationsPerChoice: Int

    init(_ seed: UInt64, device: SimulatedDevice, link: SystemLink) {
        (self.seed, self.device, self.link) = (seed, device, link)
        operationsPerChoice = SimulationTheme.of(seed: seed) == .delegate ? 18 : 27
        random = Mutex(SimulationRandom(seed, device.number, SimulationRandom.Stream.delegate.rawValue))
    }

    func syncContext(_ context: SyncContext, perform operation: PushOperation) async throws -> Item? {
        let number = random.withLock { $0.below(operationsPerChoice) }
        guard link.system?.isHealed == false, let choice = Choice(rawValue: number) else {
            return try await operation.execute()
        }
        link.system?.log("\(device.name) delegate: \(choice) \(operation.operation.itemID)")
        switch choice {
        case .refuse: throw Refusal()
        case .refuseAfterSuccess: return try await refuseAfterSuccess(operation)
        case .refuseAsCancelled: throw CancellationError()
        case .cancelPush:
            operation.cancelPush()
            return nil
        case .skip: return nil
        case .executeTwice: return try await executeTwice(operation)
        case .editItem:
            edit(operation)
            return try await operation.execute()
        case .keepClient, .keepServer:
            do {
                return try await operation.execute()
            } catch let error as TableOperationError where error.isConflict && error.serverItem != nil {
                return choice == .keepClient
                    ? try await keepClient(operation, error) : try await keepServer(operation, error)
            }
        case .readServer: return try await readServer(operation, context)
        case .returnLate:
            let item = try await operation.execute()
            try await wait()
            return item
        case .executeInTask: return try await executionTask(operation).value
        case .executeAtOnce:
            let other = try executionTask(operation)
            let item = try await operation.execute()
            _ = try await other.value
            return item
        case .abandon:
            _ = try executionTask(operation)
            try await wait()
            return nil
        case .refuseFailure:
            do { return try await operation.execute() } catch { throw Refusal() }
        case .limitTime: return try await executeWithinLimit(operation)
        case .insertAlone: return try await insertAlone(operation, context)
        }
    }

    /// Executes the operation in a task that does not belong to the push.
    private func executionTask(_ operation: PushOperation) throws -> Task<Item?, any Error> {
        guard let scheduler = link.system?.scheduler else { throw CancellationError() }
        return Task(executorPreference: scheduler) { try await operation.execute() }
    }

    /// Cancels the execution after a while.
    private func executeWithinLimit(_ operation: PushOperation) async throws -> Item? {
        try await withThrowingTaskGroup(of: Item?.self) { group in
            group.addTask { try await operation.execute() }
            group.addTask {
                try await self.wait()
                throw Refusal()
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
    }

    func syncContext(_ context: SyncContext, didCompletePush result: PushResult) async {
        checkRemovals()
        let refused = refusedAfterSuccess.withLock { $0.removeValue(forKey: CurrentAct.number) } ?? []
        for id in refused where !result.errors.contains(where: { $0.operationID == id }) {
            fail(
                "The result of a push lacks the error that the delegate threw for the completed operation \(id)."
            )
        }
    }

    private func checkRemovals() {
        let syncs = syncCount
        let removals = removed.withLock { removals in
            defer { removals = [] }
            return removals
        }
        for removal in removals where removal.syncs == syncs {
            let item = try? device.disk.store.read { try $0.item(id: removal.key.id, in: removal.key.table) }
            if item != nil, device.history.snapshot.edits.count == removal.edits {
                fail(
                    "A row that the delegate returned is stored, although \(removal.key) was removed before.")
            }
        }
    }

    private var syncCount: Int { device.state.withLock { $0.syncCount } }

    /// Records that an item is missing now, whose row the delegate is about to return.
    private func recordRemoval(_ operation: TableOperation) {
        let key = RowKey(table: operation.table, id: operation.itemID)
        let isMissing = try? device.disk.store.read { snapshot in
            let operations = try snapshot.operations(forItem: key.id, in: key.table)
            return try operations.isEmpty && snapshot.item(id: key.id, in: key.table) == nil
        }
        // Another pull may store the row again.
        guard isMissing == true, device.state.withLock({ $0.runningSyncs == 1 }) else { return }
        let removal = Removal(key: key, edits: device.history.snapshot.edits.count, syncs: syncCount)
        removed.withLock { $0.append(removal) }
    }

    private func fail(_ detail: String) { link.system?.fail(.delegate, "\(device.name): \(detail)") }

    /// Waits long enough for several acts.
    private func wait() async throws {
        try await link.system?.scheduler.sleep(random.withLock { Int64($0.below(4000)) * 1_000_000 })
    }

    // MARK: Choices

    private func refuseAfterSuccess(_ operation: PushOperation) async throws -> Item? {
        // Without an item, the operation may have been skipped.
        if try await operation.execute() != nil {
            refusedAfterSuccess.withLock {
                _ = $0[CurrentAct.number, default: []].insert(operation.operation.id)
            }
        }
        throw Refusal()
    }

    /// The second execution finds nothing to send, and returns what the first one has stored.
    private func executeTwice(_ operation: PushOperation) async throws -> Item? {
        let first = try? await operation.execute()
        let id = operation.operation.id
        let isComplete = try device.disk.store.read { try $0.operation(id: id) == nil }
        let second = try await operation.execute()
        if first != nil, isComplete, second == nil {
            fail("The second execution of operation \(id) does not return its result.")
        }
        return second
    }

    /// Replaces a field, as a delegate does that completes items before they are sent.
    private func edit(_ operation: PushOperation) {
        guard operation.operation.kind != .delete, var item = operation.item, item.fields["a"] != nil else {
            return
        }
        let key = RowKey(table: operation.operation.table, id: item.id)
        device.history.overrule(key, upTo: History.newestNumber(in: item), column: "a")
        device.state.withLock { _ = $0.rowsEditedByDelegate.insert(key) }
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

    /// Returns the server's row after a while, in which the user can edit the item.
    private func keepServer(_ operation: PushOperation, _ error: TableOperationError) async throws -> Item? {
        guard let row = error.serverItem, !row.system.deleted, error.kind != .delete else { throw error }
        accept(row, inPlaceOf: error.item, operation)
        try await wait()
        recordRemoval(operation.operation)
        var returned = asReturned(row, operation)
        // The context has the row in the error, and takes the column from it.
        if returned.system == row.system, random.withLock({ $0.percent(20) }) { returned.fields["b"] = nil }
        return returned
    }

    /// Inserts the row by a request of its own, whose response may be lost. The user may delete the item meanwhile.
    private func insertAlone(_ operation: PushOperation, _ context: SyncContext) async throws -> Item? {
        let table = operation.operation.table
        guard operation.operation.kind == .insert, let item = operation.item,
            let definition = device.disk.store.catalog.tables.first(where: { $0.name == table })
        else { return try await operation.execute() }
        let fields = item.fields.filter { definition.column(named: $0.key)?.isLocalOnly == false }
        let key = RowKey(table: table, id: item.id)
        device.state.withLock { _ = $0.rowsInsertedByDelegate.insert(key) }
        defer { device.state.withLock { _ = $0.rowsInsertedByDelegate.remove(key) } }
        let row = try await context.client.table(table).insert(fields, id: item.id)
        try await wait()
        if random.withLock({ $0.percent(30) }) { throw Refusal() }
        return row
    }

    /// Reads the server's row in place of sending the operation, and returns it after a while.
    private func readServer(_ operation: PushOperation, _ context: SyncContext) async throws -> Item? {
        let table = operation.operation.table
        guard operation.operation.kind != .delete, let item = operation.item,
            let definition = device.disk.store.catalog.tables.first(where: { $0.name == table }),
            var row = try? await context.client.table(table).read(id: item.id)
        else { return try await operation.execute() }
        accept(row, inPlaceOf: item, operation)
        row.fields = row.fields.filter { name, _ in definition.column(named: name)?.isLocalOnly == false }
        try await wait()
        recordRemoval(operation.operation)
        return asReturned(row, operation)
    }

    /// Returns the row as an app does that keeps its own model of it: at times without the system properties.
    private func asReturned(_ row: Item, _ operation: PushOperation) -> Item {
        var random = SimulationRandom(
            seed, device.number, UInt64(operation.operation.id), SimulationRandom.Stream.returnedRow.rawValue)
        // Without any version, the context does not know that the server has had the row.
        guard random.percent(25), operation.item?.system.version != nil else { return row }
        // The item has the version that the operation was made on, with the fields of a later one.
        let key = RowKey(table: operation.operation.table, id: row.id)
        device.state.withLock { _ = $0.partial.insert(key) }
        return Item(id: row.id, fields: row.fields)
    }

    /// Records that the delegate has seen the server's row, which replaces the edits that an item shows.
    private func accept(_ row: Item, inPlaceOf item: Item?, _ operation: PushOperation) {
        let key = RowKey(table: operation.operation.table, id: operation.operation.itemID)
        device.history.see(key, row)
        device.state.withLock { _ = $0.rowsOfUnknownBase.insert(key) }
        device.history.overrule(key, upTo: item.map(History.newestNumber(in:)) ?? 0)
    }
}
