// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Synchronization

/// What holds when everything is synchronized.
extension SimulatedSystem {
    func checkEnd() async {
        for device in devices {
            let context = device.processes[0].context
            for table in app.tables where server.hasChanged(table.name) {
                do {
                    if healingPull(of: device) == .filtered { try checkFilteredRows(of: table, device) }
                    try await pullCompletely(table, device, context)
                    try await checkItems(of: table, device, context)
                } catch {
                    fail(.liveness, "\(device.name): \(error)")
                }
            }
            // An observer may delay its next read by a quarter of a second, or as long as the last read took.
            try? await scheduler.sleep(60_000_000_000)
            let running = device.processes.map(\.store.process)
            for observer in device.state.withLock({ $0.observers }) where running.contains(observer.process) {
                if let missed = observer.missedState { fail(.observation, "\(device.name): \(missed)") }
            }
            checkEdits(of: device)
            checkWrites(of: device)
        }
        checkCounts()
        guard failure == nil else { return }
        do {
            // These checks depend little on the script, so that some seeds are enough.
            var random = SimulationRandom(seed, SimulationRandom.Stream.healing.rawValue)
            if random.percent(25) { try await checkLimit(on: devices[0]) }
            if random.percent(25) { try await checkOtherServer(on: devices[0]) }
        } catch {
            fail(.liveness, "\(devices[0].name): \(error)")
        }
    }

    /// A pull with a limit stores as many items as there are, although tombstones come before them.
    private func checkLimit(on device: SimulatedDevice) async throws {
        let (table, context) = (app.tables[0], device.processes[0].context)
        try await context.purge(TableQuery(table.name), pending: .refuse)
        try await context.pull(TableQuery(table.name).order(by: "id").limit(1), settings: pullSettings)
        let count = try await context.table(table.name).items().count
        let rows = server.rows(of: table.name).values.filter { !$0.isDeleted && !isUnreadable($0, table) }
        if count != min(1, rows.count) {
            fail(
                .completeness,
                "\(device.name): a pull of one item stored \(count), and the server has \(rows.count).")
        }
    }

    /// A server of another address can have rows that are older than the delta tokens.
    private func checkOtherServer(on device: SimulatedDevice) async throws {
        let query = TableQuery(app.tables[0].name)
        try await device.processes[0].context.pull(query, queryID: "all", settings: pullSettings)
        server.addOldRow("old", in: query.table)
        device.restart(0, at: "https://other.example")
        let context = device.processes[0].context
        try await context.pull(query, queryID: "all", settings: pullSettings)
        if try await context.table(query.table).item(id: "old") == nil {
            fail(.completeness, "\(device.name) lacks a row of the server to which it has moved.")
        }
    }

    /// Pulls what incremental pulls cannot see: rows that the app has purged, or that an old page has taken back, and rows
    /// that were deleted for good.
    private func pullCompletely(
        _ table: SyncTableDefinition, _ device: SimulatedDevice, _ context: SyncContext
    ) async throws {
        // The others have just pulled everything.
        if healingPull(of: device) != .all {
            try await context.pull(TableQuery(table.name), queryID: "all", settings: pullSettings)
        }
        // Without a steady clock, a row can have an earlier `updatedAt` than before.
        if server.traits.hasUnsteadyClock || device.state.withLock({ $0.needsWholePull }) {
            try await context.pull(TableQuery(table.name))
        }
        let rows = server.rows(of: table.name)
        if hasHardDeletes, try await context.table(table.name).items().contains(where: { rows[$0.id] == nil })
        {
            try await context.reconcile(TableQuery(table.name), removingMost: true)
        }
    }

    /// Every row that matches the filter of the device's pulls is here.
    private func checkFilteredRows(of table: SyncTableDefinition, _ device: SimulatedDevice) throws {
        // If the server's clock steps back, an earlier state of a row can seem to be later.
        guard !device.state.withLock({ $0.needsWholePull }), !server.traits.hasUnsteadyClock,
            let column = numberColumn(of: table)
        else { return }
        for row in server.rows(of: table.name).values where !row.isDeleted {
            guard let number = EditValue.number(row.fields[column.name], column.type),
                number > Self.healingFilter
            else { continue }
            let item = try device.disk.store.read { try $0.item(id: row.id, in: table.name) }
            if item.map({ isShown($0, as: row, table) }) != true {
                fail(
                    .completeness,
                    "\(device.name) lacks row \(row.id) version \(row.version), which matches the filter of its pulls."
                )
            }
        }
    }

    private var hasHardDeletes: Bool {
        !server.traits.hasSoftDelete || coverage.contains(.tombstonesCollected)
    }

    private func checkItems(
        of table: SyncTableDefinition, _ device: SimulatedDevice, _ context: SyncContext
    ) async throws {
        let rows = server.rows(of: table.name).filter { !$0.value.isDeleted }
        let items = try await context.table(table.name).items()
        let local = Set(items.map(\.id))
        for row in rows.values where !local.contains(row.id) && !isUnreadable(row, table) {
            fail(.completeness, "\(device.name) lacks row \(row.id) version \(row.version).")
        }
        for item in items {
            guard let row = rows[item.id] else {
                fail(.convergence, "\(device.name) has \(item.id), which the server does not have.")
                continue
            }
            if !isShown(item, as: row, table), !isUnreadable(row, table), !repeatsFormerState(row, table) {
                fail(
                    .convergence,
                    "\(device.name): \(item.id) is \(sorted(item.fields)) version \(item.system.version ?? "-"); the server "
                        + "has \(sorted(row.fields)) version \(row.version).")
            }
        }
    }

    /// Whether a row of that id, which was deleted since, had the same version, and either had it at the same instant, or the row
    /// was changed twice at that instant.
    private func repeatsFormerState(_ row: ModelServer.Row, _ table: SyncTableDefinition) -> Bool {
        let changes = server.journal.filter { $0.id == row.id && $0.table == table.name }
        guard let last = changes.lastIndex(where: { $0.kind == .delete }) else { return false }
        func sharesInstant(_ other: ModelServer.Row) -> Bool {
            let digits = server.traits.shownDigits
            return other.updatedAt.shown(digits: digits).nanoseconds
                == row.updatedAt.shown(digits: digits).nanoseconds
        }
        let wasChangedTwice = changes[last...].count { $0.after.map(sharesInstant) == true } > 1
        return changes[..<last].contains { change in
            guard let former = change.after, former.version == row.version else { return false }
            return wasChangedTwice || sharesInstant(former)
        }
    }

    // MARK: Edits

    private func columnType(_ column: String, in table: String) -> ColumnType {
        app.tables.first { $0.name == table }?.column(named: column)?.type ?? .json
    }

    func value(of column: String, in row: ModelServer.Row?, _ table: String) -> Int64? {
        EditValue.number(row?.fields[column], columnType(column, in: table))
    }

    private func checkEdits(of device: SimulatedDevice) {
        let edits = device.history.snapshot.edits
        let journal = server.journal
        for edit in edits where !edit.isOverruled {
            let later = edits.filter { $0.key == edit.key && $0.number > edit.number }
            let changes = journal.filter { $0.id == edit.key.id && $0.table == edit.key.table }
            if let companion = edit.companion {
                checkRemoval(edit, companion, changes.filter { $0.author == device.name }, device)
            } else if let column = edit.column {
                let isReplaced = later.contains { $0.column == nil || $0.column == column }
                let hasReached = changes.contains {
                    $0.author == device.name && value(of: column, in: $0.after, edit.key.table) == edit.number
                }
                if !hasReached, !isReplaced {
                    fail(
                        .lostEdit,
                        "\(edit.key).\(column) = \(edit.number) of \(device.name) did not reach the server.")
                }
            } else if later.isEmpty, !hasReached(edit, device), wasOnServer(edit, edits, changes),
                // An insert that arrives after its process or its operation has ended cannot be foreseen.
                device.state.withLock({ !$0.rowsInsertedLate.contains(edit.key) })
            {
                fail(.lostEdit, "The deletion of \(edit.key) by \(device.name) did not reach the server.")
            }
        }
    }

    /// Whether the server has deleted the row since the user did, or had no row then and got none from the device. If another row
    /// has replaced the one that the user has deleted, that was gone before.
    func hasReached(_ deletion: Edit, _ device: SimulatedDevice) -> Bool {
        let changes = server.journal.enumerated().filter {
            $0.element.id == deletion.key.id && $0.element.table == deletion.key.table
        }
        let later = changes.filter { $0.offset >= deletion.madeAt }.map(\.element)
        if later.contains(where: { $0.kind == .delete }) { return true }
        if let last = changes.last(where: { $0.element.kind == .delete }) {
            // The device has known the new row if it has changed it, or if the deleted item had a value of it. A restored row has
            // the values of the former one, and so has a row to which a late request for the former one was applied.
            let isKnown = changes.contains { offset, change in
                let isOwn = change.author == device.name
                guard offset > last.offset, offset < deletion.madeAt, !isOwn || change.wasKnown else {
                    return false
                }
                return isOwn
                    || change.kind != .undelete
                        && deletion.deleted.contains { number in
                            change.after?.fields.keys.contains { column in
                                value(of: column, in: change.after, deletion.key.table) == number
                            } ?? false
                        }
            }
            if !isKnown { return true }
        }
        let before =
            changes.last { $0.offset < deletion.madeAt }.map { $0.element.after }
            ?? later.first.map(\.before) ?? server.rows(of: deletion.key.table)[deletion.key.id]
        return before?.isDeleted ?? true && !later.contains { $0.author == device.name }
    }

    /// A column that an insert leaves out does not keep its value in a former row of that id.
    private func checkRemoval(
        _ edit: Edit, _ companion: Edit.Companion, _ changes: [ModelServer.Mutation],
        _ device: SimulatedDevice
    ) {
        let history = device.history.snapshot
        let isReplaced =
            history.edits.contains {
                $0.key == edit.key
                    // The insert of an enqueued item keeps fields of the server's row that the item lacks.
                    && ($0.isAdopted || $0.number > edit.number && [nil, edit.column].contains($0.column))
            } || history.decisions.contains { $0.key == edit.key }
        guard !isReplaced, let column = edit.column, !isLocalOnly(column, in: edit.key.table, device),
            // An earlier insert may have left out a column that was not declared.
            !device.state.withLock({ $0.hasChangedTables })
        else { return }
        let deleted = history.edits.filter { $0.key == edit.key }.flatMap(\.deleted)
        let sent = changes.filter {
            value(of: companion.column, in: $0.after, edit.key.table) == companion.number
        }
        // If the deleted item did not have the value, another user has changed the column since.
        if let last = sent.last,
            sent.allSatisfy({
                value(of: column, in: $0.after, edit.key.table).map(deleted.contains) ?? false
            })
        {
            fail(
                .lostEdit,
                "\(device.name) inserted \(edit.key) without \(column), and the server's row of version "
                    + "\(last.after?.version ?? 0) has it.")
        }
    }

    /// Whether the device keeps the column from the server now.
    private func isLocalOnly(_ column: String, in table: String, _ device: SimulatedDevice) -> Bool {
        let declared = device.disk.store.catalog.tables.first { $0.name == table }
        return declared?.column(named: column)?.isLocalOnly == true
    }

    /// Whether the server had the row that was deleted, and not another row of its id.
    private func wasOnServer(_ deletion: Edit, _ edits: [Edit], _ changes: [ModelServer.Mutation]) -> Bool {
        if deletion.hadVersion { return true }
        let values = edits.filter { $0.key == deletion.key && deletion.deleted.contains($0.number) }
        return changes.contains { change in
            values.contains { edit in
                value(of: edit.column ?? "", in: change.after, edit.key.table) == edit.number
            }
        }
    }
}

/// Returns the values in the order of their keys, so that two runs of a seed have the same text.
private func sorted<Value>(_ fields: [String: Value]) -> [(key: String, value: Value)] {
    fields.sorted { $0.key.precedesInBytes($1.key) }
}
