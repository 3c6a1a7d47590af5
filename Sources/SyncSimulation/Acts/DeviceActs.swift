// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Synchronization

/// What happens to devices and to the server.
extension SimulatedSystem {
    /// Observes the first table. One observer a process is enough: each has its own position.
    func observe(_ device: SimulatedDevice, _ process: SimulatedProcess) throws {
        let table = app.tables[0].name
        let number = process.store.process
        guard !device.state.withLock({ $0.observers.contains { $0.process == number } }) else { return }
        let items = try device.disk.store.read { try $0.items(matching: TableQuery(table)).items }
        var random = SimulationRandom(
            seed, device.number, UInt64(number), SimulationRandom.Stream.liveQuery.rawValue)
        let isTyped = app.computedColumn != nil && table == ObservedModel.table && random.percent(50)
        let observer = ObserverCheck(table: table, process: number, isTyped: isTyped, initial: items)
        device.state.withLock { $0.observers.append(observer) }
        observer.begin(process.context, on: scheduler) {
            self.fail(.observation, "\(device.name): \($0)")
        }
    }

    /// Closes the context beside an edit, whose commit observers may be about to read, and starts the app again.
    func close(_ act: Act, _ device: SimulatedDevice, _ process: SimulatedProcess) async throws {
        var random = act.random
        let steps = random.below(16)
        try observe(device, process)
        let observers = device.state.withLock { $0.observers.filter { $0.process == process.store.process } }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                // The context may be closed before the edit.
                do { try await self.edit(act, device, process.context) } catch let error as SyncError
                    where error.code == .contextInvalid
                {}
            }
            await wait(steps: steps)
            if !process.store.hasEnded {
                for observer in observers { observer.willClose() }
                try await process.context.close()
                await waitForEnd(ofSyncIn: process, device)
            }
            try await group.waitForAll()
        }
        device.restart(Int(act.number))
    }

    /// Sets the device's clock, if it is one that is set at times: back or ahead, by a little or by hours.
    func stepClock(of device: SimulatedDevice, _ act: Act) {
        let stream = SimulationRandom.Stream.deviceClock.rawValue
        var random = SimulationRandom(seed, device.number, stream)
        // Without `Date`, the device's clock is all that a pull has.
        guard server.traits.sendsDate, random.percent(15) else { return }
        var draw = SimulationRandom(seed, act.number, device.number, stream)
        guard draw.percent(20) else { return }
        let offset = draw.pick([0, 1, -1, 60, -60, 3600, -3600, 86_400, -86_400]) * 1_000_000_000
        log("\(device.name): its clock is \(offset / 1_000_000_000) s ahead")
        device.state.withLock { $0.clockOffset = Int64(offset) }
    }

    // MARK: Tables

    /// Starts the app in a version with other tables, or with all again.
    func changeSchema(_ act: Act, _ device: SimulatedDevice) {
        var random = act.random
        let isComplete = device.disk.store.catalog.tables == app.tables
        changeTables(of: device, to: isComplete ? fewerTables(&random) : app.tables)
    }

    /// Returns the app's tables without the last table, without a column, or with a column that is local-only.
    private func fewerTables(_ random: inout SimulationRandom) -> [SyncTableDefinition] {
        let hasChildren = app.tables.last.map { last in
            app.tables.contains { $0.parents.contains(last.name) }
        }
        if app.tables.count > 1, hasChildren == false, random.percent(30) {
            return Array(app.tables.dropLast())
        }
        let isLocal = random.percent(50)
        return app.tables.map { table in
            let edited = app.editedColumns(of: table)
            guard edited.count > 1, let last = edited.last else { return table }
            let columns = table.columns.compactMap { column -> SyncColumn? in
                guard column == last else { return column }
                return isLocal ? SyncColumn(column.name, column.type, isLocalOnly: true) : nil
            }
            return SyncTableDefinition(table.name, columns: columns, parents: table.parents)
        }
    }

    func changeTables(of device: SimulatedDevice, to tables: [SyncTableDefinition]) {
        let names = tables.map { "\($0.name)\($0.columns.filter { !$0.isLocalOnly }.map(\.name))" }
        log("\(device.name) starts with \(names)")
        // Edits of a column that the app no longer synchronizes are not promised to reach the server.
        let synced = Dictionary(
            uniqueKeysWithValues: tables.map { table in
                (table.name, Set(table.columns.filter { !$0.isLocalOnly }.map(\.name)))
            })
        device.history.overrule(where: { edit in
            edit.column.map { synced[edit.key.table]?.contains($0) == false } ?? false
        })
        device.history.forgetLocalOnlyEdits { _ in true }
        device.state.withLock { ($0.copies, $0.hasChangedTables) = ([:], true) }
        do { try device.reopen(with: tables) } catch {
            return fail(.store, "\(device.name) cannot be opened: \(error)")
        }
        checkStore(of: device)
    }

    // MARK: Faults

    func injectStoreFault(_ act: Act, _ process: SimulatedProcess) {
        var random = act.random
        let kind: StoreFault.Kind =
            switch act.feature {
            case .failStore: random.pick([.failure, .failedCommit, .unconfirmedCommit, .lostCommit])
            case .crash: .crash
            default: .crashAfterCommit
            }
        process.store.inject(StoreFault(kind: kind, calls: random.below(kind.isOfCommit ? 6 : 40)))
    }

    func partition(_ act: Act, _ process: SimulatedProcess) {
        var random = act.random
        let end = scheduler.nanoseconds + random.logUniform(below: 60_000_000_000)
        process.transport.partition(SimulatedTransport.Partition(end: end, isOneWay: random.percent(50)))
    }

    // MARK: Server

    /// Changes a row as another user does.
    private func writeOnServer(
        _ act: Act, _ table: SyncTableDefinition, _ random: inout SimulationRandom
    ) {
        let column = random.pick(app.editedColumns(of: table))
        // No device makes a number with this remainder.
        let number = Int64(act.number) * 8
        server.write(
            act.id, [column.name: EditValue.model(number, column.type)], in: table.name,
            isLate: random.percent(50))
        writeLaterRow(in: table)
    }

    /// Changes another row a little later, as another user does. Tokens then move past the change before it; without
    /// this, each pull would read the newest change again.
    func writeLaterRow(in table: SyncTableDefinition) {
        let changes = server.changeCount
        var random = SimulationRandom(seed, UInt64(changes), SimulationRandom.Stream.laterRow.rawValue)
        guard mode != .solo, random.percent(50), let column = app.editedColumns(of: table).first else {
            return
        }
        let value = EditValue.model(Self.otherUsersNumber(4000 + changes), column.type)
        scheduler.schedule(after: random.logUniform(below: 1_000_000_000)) { [self] in
            guard !isHealed else { return }
            server.write("later", [column.name: value], in: table.name, isLate: false)
        }
    }

    func changeServer(_ act: Act) {
        var random = act.random
        let table = app.tables[act.table]
        switch act.feature {
        case .serverWrite:
            writeOnServer(act, table, &random)
        case .serverDelete: server.delete(act.id, in: table.name)
        case .breakRow:
            let columns = app.editedColumns(of: table).filter { EditValue.unreadable($0.type) != nil }
            guard let column = columns.first, let value = EditValue.unreadable(column.type) else { return }
            server.change { $0.hasUnreadableRows = true }
            server.write(act.id, [column.name: value], in: table.name, isLate: false)
        case .refuseRow:
            let statuses: [Int?] = [400, 403, 404, 409, 412, 413, 500, nil, nil, nil]
            server.refuse(act.id, in: table.name, status: random.pick(statuses))
            // A pull then stores the other user's change beside an operation that fails for another reason.
            if mode != .solo, random.percent(50) { writeOnServer(act, table, &random) }
        case .changePageCap:
            let cap = random.pick([1, 2, 3, 50])
            server.change { $0.pageCap = cap }
        case .stepServerClock: server.setClock(offset: Int64(random.below(6) - 3) * 1_000_000_000)
        default:
            count(.tombstonesCollected)
            server.collectTombstones()
        }
    }
}
