// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

extension StoreReport {
    init(_ state: StoreState, _ push: NextPush, showsValues: Bool) {
        let parts = Parts(state: state, showsValues: showsValues)
        (file, format, formatVersion) = (state.file, state.format, state.formatVersion)
        let counts = Dictionary(grouping: state.operations) { UTF8Text($0.table) }.mapValues(\.count)
        tables = state.catalog.tables.map { table in
            Table(
                name: table.name, rows: state.rowCounts[table.name] ?? 0,
                pendingOperations: counts[UTF8Text(table.name)] ?? 0, parents: table.parents)
        }
        let errors = Dictionary(state.errors.map { ($0.operationID, $0) }) { first, _ in first }
        operations = state.operations.map { parts.operation($0, error: errors[$0.id]) }
        let pending = Set(state.operations.map(\.id))
        otherErrors = state.errors.filter { !pending.contains($0.operationID) }.map(parts.error)
        deltaTokens = state.configValues.compactMap { key, value in
            guard key.kind == .deltaToken, let token = DeltaToken(storedText: value) else { return nil }
            return Token(
                table: key.table, queryID: key.name, updatedAt: token.updatedAtText, id: token.id,
                instant: token.instant.rawValue, isFirstPull: token.isFirstPull)
        }
        nextPush = Push(
            dialect: push.dialect.name, requests: push.requests.map(parts.request),
            notSent: push.unsent)
    }
}

/// Makes the parts of a report. It is the only place that decides whether values of fields are shown.
private struct Parts {
    let state: StoreState
    let showsValues: Bool

    func operation(_ operation: TableOperation, error: TableOperationError?) -> StoreReport.Operation {
        let item = state.items[operation.id]
        return StoreReport.Operation(
            id: operation.id, table: operation.table, itemID: operation.itemID, kind: operation.kind.rawValue,
            state: operation.state.rawValue, changedFields: changedFields(of: operation, item),
            changedAt: operation.changedAt?.description, lastAttempt: operation.lastAttempt?.description,
            lastStatus: operation.lastStatus, refusals: operation.refusals, revision: operation.revision,
            version: operation.version, server: operation.serverItem.map(serverRow),
            sent: operation.sent.map { sent in
                StoreReport.Sent(
                    kind: sent.kind.rawValue, fields: sent.fields.keys.sorted(), version: sent.version,
                    values: values(sent.fields))
            },
            operationsBehind: (state.operationsBehind[operation.id] ?? []).map(\.id),
            error: error.map(self.error),
            values: (item ?? operation.deletedItem).flatMap { values($0.fields) })
    }

    /// Returns the names of the fields that the next attempt sends, edits after an unknown outcome included.
    private func changedFields(of operation: TableOperation, _ item: Item?) -> [String] {
        guard operation.kind != .delete, let definition = try? state.catalog.table(named: operation.table)
        else { return [] }
        var edited = operation
        edited.sent = nil
        let attempt = edited.nextAttempt(item: item, definition: definition, sendsChangedFieldsOnly: true)
        return attempt?.fields.keys.sorted() ?? []
    }

    func error(_ error: TableOperationError) -> StoreReport.OperationError {
        StoreReport.OperationError(
            operation: error.operationID, code: error.code.rawValue, name: error.code.name,
            status: error.status, message: error.message, isConflict: error.isConflict,
            server: error.serverItem.map(serverRow))
    }

    func request(_ request: PlannedPushRequest) -> StoreReport.Request {
        StoreReport.Request(
            number: request.number, operation: request.operation, method: request.method, path: request.path,
            ifMatch: request.ifMatchOfRequest == nil ? request.ifMatch : nil,
            ifMatchOfRequest: request.ifMatchOfRequest, fields: request.fields.keys.sorted(),
            values: values(request.fields))
    }

    private func serverRow(_ row: Item) -> StoreReport.ServerRow {
        StoreReport.ServerRow(
            version: row.system.version, isDeleted: row.system.deleted, values: values(row.fields))
    }

    private func values(_ fields: [String: ItemValue]) -> [String: FieldJSON]? {
        showsValues ? fields.mapValues(FieldJSON.init) : nil
    }
}
