// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Synchronization

/// After the faults end, everything is synchronized without another edit, and what needs a decision is reported.
extension SimulatedSystem {
    private static let maxRounds = 14
    /// From this round on the user decides about everything that is reported.
    private static let firstRoundWithDecisions = 2

    func synchronizeAll() async {
        // How many of the server's changes each device has pulled; -1 if the device has to synchronize again.
        var pulled = devices.map { _ in -1 }
        for round in 0..<Self.maxRounds {
            for (index, device) in devices.enumerated() where pulled[index] != server.changeCount {
                try? await scheduler.sleep(120_000_000_000)
                let isPulled = await synchronize(device, round)
                if failure != nil { return }
                let pending = try? await device.processes[0].context.pendingOperationCount()
                let isQueued = device.state.withLock(\.unqueued.isEmpty)
                pulled[index] = isPulled && isQueued && pending == 0 ? server.changeCount : -1
            }
            if pulled.allSatisfy({ $0 == server.changeCount }) { return }
        }
        for device in devices {
            let operations = (try? await device.processes[0].context.pendingOperations()) ?? []
            if !operations.isEmpty {
                fail(
                    .liveness,
                    "\(device.name): \(operations.map { "\($0.kind) \($0.itemID) \($0.state)" }) never ends.")
            }
        }
    }

    /// - Returns: whether all tables were pulled.
    private func synchronize(_ device: SimulatedDevice, _ round: Int) async -> Bool {
        let context = device.processes[0].context
        await enqueueUnqueued(on: device, context)
        await noteUnsent(device, context)
        do {
            try await context.push()
            let left = try await context.pendingOperations()
            if !left.isEmpty {
                fail(
                    .unreported,
                    "\(device.name): push() returned with \(left.map { "\($0.kind) \($0.itemID) \($0.state)" })."
                )
            }
        } catch let error as SyncError where error.code == .pushCompletedWithErrors {
            log("\(device.name) push: \(error)")
            await requireReports(error.pushResult?.errors ?? [], device, context)
            if round >= Self.firstRoundWithDecisions { await decideAll(device, context, round) }
        } catch {
            // An exhausted retry budget or a wait that the server asked for can end one push.
            if round > 1 { fail(.liveness, "\(device.name): push() in round \(round): \(error)") }
        }
        var isPulled = true
        for table in app.tables where server.hasChanged(table.name) {
            do {
                try await pullWhenHealed(table, device, context)
            } catch {
                isPulled = false
                if round > 1 { fail(.liveness, "\(device.name): pull() in round \(round): \(error)") }
            }
        }
        return isPulled
    }

    /// Pulls as the device does after the faults: each device draws one kind of pull.
    private func pullWhenHealed(
        _ table: SyncTableDefinition, _ device: SimulatedDevice, _ context: SyncContext
    ) async throws {
        let settings = pullSettings
        switch healingPull(of: device) {
        case .all: try await context.pull(TableQuery(table.name), queryID: "all", settings: settings)
        case .whole: try await context.pull(TableQuery(table.name), settings: settings)
        case .filtered:
            try await context.pull(
                filter(above: Self.healingFilter, table), queryID: "some", settings: settings)
        }
    }

    /// The kind of pull that synchronizes a device after the faults.
    enum HealingPull: Sendable { case all, whole, filtered }

    /// The number above which filtered pulls of healing receive rows.
    static let healingFilter: Int64 = 40

    func healingPull(of device: SimulatedDevice) -> HealingPull {
        var random = SimulationRandom(seed, device.number, SimulationRandom.Stream.healing.rawValue)
        let canFilter = app.tables.allSatisfy { numberColumn(of: $0) != nil }
        return random.pick([.all, .all, .all, .whole, canFilter ? .filtered : .all])
    }

    /// The first edited column with numbers, which are in the order of edits.
    func numberColumn(of table: SyncTableDefinition) -> SyncColumn? {
        app.editedColumns(of: table).first { [.integer, .double].contains($0.type) }
    }

    /// The query of filtered pulls: rows whose first column with numbers has a value above this one.
    func filter(above number: Int64, _ table: SyncTableDefinition) -> TableQuery {
        let column = numberColumn(of: table) ?? app.editedColumns(of: table)[0]
        return TableQuery(table.name).where(.column(column.name) > EditValue.item(number, column.type))
    }

    /// Whether the query of filtered pulls matches the row.
    func isAbove(_ number: Int64, _ row: ModelServer.Row, _ table: SyncTableDefinition) -> Bool {
        guard let column = numberColumn(of: table), !row.isDeleted,
            let value = EditValue.number(row.fields[column.name], column.type)
        else { return false }
        return value > number
    }

    /// Every pending operation is named by the push, and has an error in the log or is behind one that has.
    private func requireReports(
        _ reported: [TableOperationError], _ device: SimulatedDevice, _ context: SyncContext
    ) async {
        guard let operations = try? await context.pendingOperations(),
            let errors = try? await context.operationErrors()
        else { return }
        for operation in operations
        where !errors.contains(where: { $0.itemID == operation.itemID && $0.table == operation.table }) {
            fail(
                .unreported,
                "\(device.name): \(operation.kind) \(operation.itemID) waits, and no error names it.")
        }
        for error in reported where error.code == .operationHeld && error.kind == .insert {
            let tables = [error.table] + (app.tables.first { $0.name == error.table }?.parents ?? [])
            let isHeld = operations.contains { operation in
                operation.id != error.operationID && tables.contains(operation.table)
                    && operation.itemID == error.itemID
            }
            if !isHeld {
                fail(.order, "\(device.name): the insert of \(error.itemID) waits for no operation.")
            }
        }
        let known = Set((reported + errors).map(\.operationID))
        for operation in operations where !known.contains(operation.id) {
            fail(
                .unreported,
                "\(device.name): \(operation.kind) \(operation.itemID) waits, and push() does not name it.")
        }
    }

    private func decideAll(_ device: SimulatedDevice, _ context: SyncContext, _ round: Int) async {
        guard let errors = try? await context.operationErrors() else { return }
        for (index, error) in errors.enumerated() {
            do {
                let decision: Act.Feature = (round + index) % 2 == 0 ? .keepClient : .discard
                let newest = newestNumber(shownBy: error, device)
                try await decide(decision, error, upTo: newest, device, context)
                // The decision about another operation of the item has changed this one.
            } catch let failure as SyncError
                where [.operationNotFound, .operationHeld, .operationChanged].contains(failure.code)
            {
                continue
            } catch {
                fail(.liveness, "\(device.name): the decision about \(error) is refused.")
            }
        }
    }
}
