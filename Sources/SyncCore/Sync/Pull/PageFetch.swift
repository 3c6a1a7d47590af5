// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A page as it came, with the cursor that asked for it.
struct PulledPage: Sendable {
    let rows: [PulledRow]
    let unreadable: [UnreadableRow]
    let isLast: Bool
    /// When the server answered, by its own clock, if it told.
    let date: Timestamp?
    /// How many rows had been acknowledged when the page was asked for: see ``StalePageGuard``.
    let acknowledgements: Int
    let cursor: PullCursor
}

/// Fetches pages, in smaller pieces and in other ways when the server or the transport refuses the first one.
struct PageFetch: Sendable {
    let context: SyncContext
    let definition: SyncTableDefinition
    let onUnreadableRow: UnreadableRowPolicy
    let features: RemoteCall.Features
    /// The columns to fetch; empty is all.
    var selection: [String] = []
    /// Whether tombstones come too.
    var includesDeleted = true

    /// - Throws: ``SyncError/Code/pullAborted`` with the reason as its cause; `CancellationError`.
    func page(at cursor: PullCursor) async throws -> PulledPage {
        var cursor = cursor
        while true {
            let acknowledgements = context.acknowledgements.count
            switch try await context.askForPage(call(cursor.nextPage), table: definition.name) {
            case .page(let answer):
                return try read(answer, cursor, acknowledgements, tooLong: nil)
            case .refused(let error):
                guard cursor.hasAlternative else { throw SyncError.pullAborted(definition.name, error) }
                cursor.advanceOverRefusal()
            case .tooLong(let limit):
                guard !cursor.halvePage() else { continue }
                return try await pageOfLongRow(cursor, acknowledgements, limit: limit)
            }
        }
    }

    /// Fetches the id and the system properties of a row that is itself too long.
    private func pageOfLongRow(
        _ cursor: PullCursor, _ acknowledgements: Int, limit: Int
    ) async throws -> PulledPage {
        var query = cursor.nextPage
        query.selection = ["id"]
        let reason = SyncError(
            .unreadableResponse,
            "A row is longer than the \(limit) bytes that the transport accepts in one answer.")
        guard case .page(let answer) = try await context.askForPage(call(query), table: definition.name)
        else {
            throw SyncError.pullAborted(definition.name, reason)
        }
        return try read(answer, cursor, acknowledgements, tooLong: reason)
    }

    private func call(_ query: TableQuery) throws(SyncError) -> RemoteCall {
        var query = query
        if query.selection.isEmpty { query.selection = selection }
        return RemoteCall(
            .query(try query.odata(context.client.dialect), includesDeleted: includesDeleted),
            table: definition.name, parameters: query.parameters, features: features)
    }

    private func read(
        _ answer: SyncContext.PageAnswer.Rows, _ cursor: PullCursor, _ acknowledgements: Int,
        tooLong: SyncError?
    ) throws(SyncError) -> PulledPage {
        var reader = WireRowReader(dialect: context.client.dialect, definition: definition)
        var rows: [PulledRow] = []
        var unreadable: [UnreadableRow] = []
        rows.reserveCapacity(answer.rows.count)
        for row in answer.rows {
            let wire = reader.readRecordingProblems(row)
            let isWhole = tooLong == nil || wire.item.system.deleted
            let error = isWhole ? wire.problems.first?.error : tooLong
            rows.append(
                PulledRow(item: wire.item, updatedAtText: wire.updatedAtText, isReadable: error == nil))
            guard let error else { continue }
            guard onUnreadableRow == .skip else { throw SyncError.pullAborted(definition.name, error) }
            let id = wire.item.id
            unreadable.append(
                UnreadableRow(
                    table: definition.name, id: id.isEmpty ? nil : id,
                    column: isWhole ? wire.problems.first?.column : nil, reason: error.message))
        }
        log(unreadable)
        return PulledPage(
            rows: rows, unreadable: unreadable, isLast: answer.isLast, date: answer.date,
            acknowledgements: acknowledgements, cursor: cursor)
    }

    private func log(_ rows: [UnreadableRow]) {
        for row in rows {
            context.emit(
                .rowUnreadable(table: row.table), SyncLog.Details(itemID: row.id, column: row.column))
        }
    }
}
