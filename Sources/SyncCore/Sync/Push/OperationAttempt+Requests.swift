// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension OperationAttempt {
    /// Sends requests until the outcome of the operation is known.
    ///
    /// - Throws: ``SyncError`` when a request cannot be sent or has no response; `CancellationError`.
    func send() async throws -> AttemptOutcome {
        var (version, base) = (snapshot.version, base)
        if let outcome = try await outcomeBeforeRequest() {
            guard case .continues(let row) = outcome else { return outcome }
            (version, base) = (row.system.version, row)
        }
        // At most one continuation from a response: the row may change again each time.
        for _ in 0..<2 {
            let outcome = try await sendOperation(version: version, base: base)
            guard case .continues(let row) = outcome else { return outcome }
            (version, base) = (row.system.version, row)
        }
        return .unknown(status: ConflictReason.versionMismatch.status, message: nil)
    }

    /// Returns what is known, or has to be requested, before the operation itself is sent; `nil` when nothing has.
    private func outcomeBeforeRequest() async throws -> AttemptOutcome? {
        if let conflict = undetectedConflict() { return conflict }
        if rowWasReplaced, let conflict = try await conflictWithNewRow() { return conflict }
        if mustNotRepeat, let outcome = try await outcomeOfEarlierAttempt() { return outcome }
        if operation.hasUnknownRow { return try await outcomeOfUnknownRow() }
        // A delegate can have given the item the version of a row that another client has restored meanwhile.
        let isOfOtherRow = context.client.dialect.updatesWholeRow && operation.olderVersion != nil
        if operation.undeletes, !isOfOtherRow { return try await undelete() }
        return try await outcomeOfUnknownColumns()
    }

    /// Fetches the row before a request that replaces the whole row, if the device does not have all of its columns: the app
    /// has removed values from its table, the app or a delegate has given the item the version of a row that only it has read,
    /// the app has inserted an item again whose row is known by its version only, or a repeated attempt lacks a column of an
    /// item whose row is unknown.
    ///
    /// - Returns: `continues` with the row if it is in the same state; `nil` if all columns are known.
    private func outcomeOfUnknownColumns() async throws -> AttemptOutcome? {
        guard context.client.dialect.updatesWholeRow, snapshot.kind == .update, let base else { return nil }
        let isKnownByVersion =
            operation.olderVersion != nil || base.system.lostValues[SystemProperties.allUndeclared] != nil
            || snapshot.version != nil && base.system.version != snapshot.version
        let lacksColumn =
            operation.base == nil
            && definition.syncedFields(of: base).contains { !$1.isNull && snapshot.fields[$0] == nil }
        guard isKnownByVersion || lacksColumn || !base.system.lostValues.isEmpty else { return nil }
        let fetched = try await readRow()
        if let row = fetched.row, !row.system.deleted {
            let isExpected =
                isKnownByVersion
                ? snapshot.version.map { row.system.version?.hasSameBytes(as: $0) == true } ?? false
                : row.isSameState(as: base)
            if isExpected { return .continues(from: row) }
        }
        return outcome(ofFetched: fetched)
    }

    /// Fetches the row to find out whether the earlier attempt was applied, although it must not be repeated.
    ///
    /// - Returns: `nil` if the service refuses to show the row after an attempt with a column that is no longer synced, and a
    ///   response to the present change can show it.
    private func outcomeOfEarlierAttempt() async throws -> AttemptOutcome? {
        let (mismatch, exists) = (ConflictReason.versionMismatch, ConflictReason.rowExists)
        let fetched = try await readRow()
        // If only the list is refused, the row is missing.
        let isHidden = fetched.classification != .rowMissing && isForbidden(fetched)
        let canRepeat = operation.sent.map(definition.canRepeat) ?? true
        if isHidden, canRepeat {
            return .refused(status: fetched.status, message: fetched.message)
        }
        let outcome = outcome(ofFetched: fetched, toDecide: mismatch, status: mismatch.status)
        let isRefused = if case .unknown(400..<500, _) = outcome { true } else { isHidden }
        if isRefused, !canRepeat {
            if snapshot.kind == .update, snapshot.fields.isEmpty { return .notApplied }
            return snapshot.kind == .insert || snapshot.version != nil ? nil : outcome
        }
        guard case .conflict(_, _, let row) = outcome else { return outcome }
        guard operation.kind == .insert, let row else { return .notApplied }
        // The row can be the inserted one with a change of another client. No condition of a request would protect it.
        return .conflict(exists, status: exists.status, serverItem: row)
    }

    private func sendOperation(version: String?, base: Item?) async throws -> AttemptOutcome {
        let id = operation.itemID
        let action: RemoteCall.Action =
            switch snapshot.kind {
            case .insert: .insert(id: id, fields: snapshot.fields)
            case .update: .update(id: id, fields: body(base: base), version: version)
            case .delete: .delete(id: id, version: version)
            }
        requests.recordCondition(state(version, of: base))
        let response = try await send(action)
        // An earlier request would have changed the version, or inserted the row.
        if response.classification == .done, snapshot.kind == .insert || version != nil {
            requests.recordApplication()
        }
        if let outcome = try await outcomeOfMissingTable(response, known: requests.condition) {
            return outcome
        }
        var outcome = AttemptOutcome(response, proof)
        if case .rowNeeded(let reason, let status) = outcome {
            requests.recordReason(response.message)
            outcome = try await fetchRow(toDecide: reason, status: status)
        }
        return refusal(by: response, known: requests.condition, outcome) ?? outcome
    }

    /// Returns the outcome of a 404 that is not about the row. A gateway that has no route to the server responds in the same way
    /// as a server without the row, but a server with the table lists its rows.
    ///
    /// - Parameter known: the state of the row that the request was about.
    func outcomeOfMissingTable(
        _ response: AttemptResponse, known: Item?
    ) async throws -> AttemptOutcome? {
        // In a dialect that replaces whole rows, 410 is about a deleted row.
        let mayBeOfGateway = response.status == 404 || !context.client.dialect.updatesWholeRow
        guard response.classification == .rowMissing, mayBeOfGateway else { return nil }
        let listed = try await readListedRow()
        switch listed.classification {
        case .done:
            // The user may see the row, and not change it, or not restore it.
            if let row = listed.row, row.system.deleted, known?.isLater(than: row) != true {
                return operation.undeletes ? refusal(by: response, known: known, of: row) : nil
            }
            return try await outcomeOfShownRow(listed.row, known: known, after: response)
        // A service that refuses the list has a route to the table, and may show the row.
        case _ where listed.isRefusal || isForbidden(listed):
            return try await outcomeOfShownRow(known: known, after: response)
        case .rowMissing: return nil
        default: return outcome(ofFetched: listed)
        }
    }

    /// Returns the outcome of a 404 for a row that the server returns by id. `nil` if the row is gone all the same: a list can be
    /// an old one of a cache, or another client has inserted the row again since.
    ///
    /// - Parameter listed: the row in a list, if there is one.
    private func outcomeOfShownRow(
        _ listed: Item? = nil, known: Item?, after response: AttemptResponse
    ) async throws -> AttemptOutcome? {
        guard operation.kind != .insert, let known, listed?.isInsertedAgain(since: known) != true
        else { return nil }
        let fetched = try await send(.read(id: operation.itemID))
        if fetched.classification == .rowMissing { return nil }
        if listed == nil, isForbidden(fetched) {
            // A user who may not read the table leaves it at the 404. If the server has the row, later pulls show it again.
            let (table, tables) = (definition.name, context.tablesToPull)
            try await context.write(keepsMarks: true) { try $0.recordRowToPull(in: table, tables) }
            return nil
        }
        guard let present = fetched.row else { return outcome(ofFetched: fetched) }
        if present.isInsertedAgain(since: known) { return nil }
        // An old state of a cache, or a later one of a server whose clock has stepped back.
        if known.isLater(than: present) {
            if present.system.deleted, listed?.system.deleted == true { return nil }
            return .unknown(status: response.status, message: response.message)
        }
        return refusal(by: response, known: known, of: present) ?? outcome(ofFetched: fetched)
    }

    /// Returns the state of the row with this version: the given one, or else only the version; `nil` if nothing is known.
    func state(_ version: String?, of row: Item?) -> Item? {
        if let row, row.system.version == version { return row }
        return version.map { Item(id: operation.itemID, system: SystemProperties(version: $0)) }
    }

    /// Whether the row is in the known state. A row that was deleted for good and inserted again in the same instant can have the
    /// same system properties, so that only its fields differ from those of the base.
    private func isUnchanged(_ row: Item, since known: Item) -> Bool {
        guard row.isSameState(as: known) else { return false }
        guard let base = operation.base, base.isSameState(as: known) else { return true }
        return definition.syncedColumns.allSatisfy { column in
            // A column that the server does not have keeps its local value, and the server may have added others since.
            guard let shown = row.content[column.name], let value = base.content[column.name] else {
                return true
            }
            return value.isShown(as: shown)
        }
    }

    /// Returns the refusal if a 409 or 412 reports no conflict: the row is in the state that the request was about, so the server
    /// refuses the change for another reason, such as a value that must be unique.
    ///
    /// - Parameter known: the state of the row that the request was about.
    func refusal(by response: AttemptResponse, known: Item?, _ outcome: AttemptOutcome) -> AttemptOutcome? {
        guard [.rowExists, .versionMismatch].contains(response.classification), snapshot.kind != .insert
        else { return nil }
        return outcome.rowInConflict.flatMap { refusal(by: response, known: known, of: $0) }
    }

    /// Returns the refusal if the row is in the state that the request was about.
    private func refusal(by response: AttemptResponse, known: Item?, of row: Item) -> AttemptOutcome? {
        guard let known, isUnchanged(row, since: known), operation.serverItem?.isLater(than: row) != true
        else { return nil }
        // Otherwise the row is what an earlier attempt has left.
        let isMadeOn =
            operation.base.map { $0.isSameState(as: known) }
            ?? (snapshot.version != nil && known.system.version == snapshot.version)
        if isMadeOn || operation.kind == .update && proof.isUnchanged(row) { requests.recordUnchangedRow() }
        return .refused(status: response.status, message: response.message)
    }

    /// Fetches the server's row to decide what a conflict with this status means.
    func fetchRow(toDecide reason: ConflictReason, status: Int) async throws -> AttemptOutcome {
        outcome(ofFetched: try await readRow(), toDecide: reason, status: status)
    }

    private func outcome(
        ofFetched fetched: AttemptResponse, toDecide reason: ConflictReason, status: Int
    ) -> AttemptOutcome {
        let found: ConflictReason =
            switch (reason, operation.kind) {
            case (.rowMissing, _) where fetched.row != nil: .versionMismatch
            case (_, .update) where fetched.classification == .rowMissing: .rowMissing
            default: reason
            }
        return outcome(ofFetched: fetched, found, status: found == reason ? status : found.status)
    }

    /// Returns the outcome of a conflict that only the response to a request for the server's row shows.
    func outcome(ofFetched response: AttemptResponse) -> AttemptOutcome {
        let reason = response.row == nil ? ConflictReason.rowMissing : .versionMismatch
        return outcome(ofFetched: response, reason, status: reason.status)
    }

    /// Returns the outcome of a conflict, given the response to a request for the server's row.
    func outcome(
        ofFetched response: AttemptResponse, _ reason: ConflictReason, status: Int
    ) -> AttemptOutcome {
        if response.classification == .done, operation.kind == .insert,
            let refusal = AttemptOutcome.refusal(byOtherID: response)
        {
            return refusal
        }
        return switch response.classification {
        case .done where response.row != nil, .rowMissing:
            proof.outcome(ofRow: response, reason, status: status)
        // The server has answered the write, and nothing more can be known: the operation is parked in the end.
        case _ where requests.hasWritten && !requests.isConfirmed && isForbidden(response):
            .refused(status: status, message: response.message)
        case .unauthenticated, .unavailable:
            AttemptOutcome(response, proof)
        case .tableMissing:
            .refused(status: response.status, .tableNotOnServer, message: response.message)
        // The response says nothing about the row.
        case .done, .rowExists, .versionMismatch, .refused, .unknown:
            .unknown(status: response.status, message: response.message)
        }
    }

    /// Whether the user may not read the row that a write was about, or the service has no such request. A device without a user
    /// may be permitted to write only, as the answer to its write shows.
    private func isForbidden(_ response: AttemptResponse) -> Bool {
        switch response.status {
        case 401: requests.hasWritten && context.client.authenticationToken == nil
        case 403, 405: response.isRefusal
        default: false
        }
    }

    /// The operation that a response answers; `nil` for a read that shows what became of an earlier request.
    var answeredID: Int64? { mustNotRepeat ? nil : operation.id }

    /// Sends a request, again after transient failures.
    func send(_ action: RemoteCall.Action) async throws -> AttemptResponse {
        let call = RemoteCall(action, table: definition.name, features: .offline)
        let mayRepeat = !context.unanswered.isAlone(operation.id)
        defer {
            context.unanswered.recordEnd(
                of: operation.id, isWrite: !action.isRead, at: context.environment.uptime())
        }
        let response = try await context.send(
            call, mayRepeat: mayRepeat, recordingIn: action.isRead ? nil : requests)
        let result = AttemptResponse(
            response, itemID: call.itemID, definition: definition, dialect: context.client.dialect)
        requests.recordResponse(to: action, result.classification)
        return result
    }

    /// The row that the version of the request belongs to; without a match, the base.
    var base: Item? {
        let known = [operation.base, item].compactMap(\.self)
        return known.first { $0.system.version == snapshot.version } ?? known.first
    }

    /// Returns the fields of an update request.
    ///
    /// A dialect that replaces the whole row also sends the row's columns that the app does not sync. They are no part of
    /// what a later response is compared with.
    ///
    /// - Parameter base: the row that the request's version belongs to.
    func body(base: Item?) -> [String: ItemValue] {
        var fields = snapshot.fields
        guard context.client.dialect.updatesWholeRow, let base else { return fields }
        // An edit that removes a value names its column. The snapshot lacks others only if they were not declared when it was
        // made, or if the row was fetched.
        for name in definition.syncedColumns.map(\.name)
        where fields[name] == nil && !base.hasUnreadableValue(ofColumn: name) {
            fields[name] = base.content[name]
        }
        // Servers ignore case in column names, and refuse a body that names a column twice.
        let own = ["id", SystemProperties.lostValuesName] + context.client.dialect.systemNames.all
        let sent = Set((own + fields.keys).map { $0.lowercased() })
        let kept = base.system.undeclared.filter { !$0.value.isNull && !sent.contains($0.key.lowercased()) }
        fields.merge(kept) { sent, _ in sent }
        // The new row removes the values of the one before it. A typed server refuses null for some columns.
        if operation.replaces {
            for (name, value) in snapshot.fields where value.isNull && item?.content[name] == nil {
                fields[name] = nil
            }
        }
        return fields
    }
}

extension AttemptResponse {
    /// Whether the service refuses to show rows.
    fileprivate var isRefusal: Bool {
        switch classification {
        case .refused, .unknown, .rowMissing: status != 404 && (400...499).contains(status)
        default: false
        }
    }
}

extension AttemptOutcome {
    /// The server's row in a conflict, or the one from which the operation would continue after it.
    fileprivate var rowInConflict: Item? {
        switch self {
        case .conflict(_, _, let row): row
        case .continues(let row): row
        default: nil
        }
    }
}

extension RemoteCall.Action {
    var isRead: Bool {
        if case .read = self { true } else { false }
    }
}
