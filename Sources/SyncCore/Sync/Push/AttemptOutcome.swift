// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// What a server's answer to an attempt was, as far as a push needs to know.
struct AttemptResponse: Sendable, Hashable {
    var status: Int
    var classification: ResponseClassification
    /// The server's row, when the answer carries one: a row has a version, an echo of the request has none.
    var row: Item?
    /// Fields of the row that do not fit their columns, as the server shows them. They prove what was sent, and are
    /// not stored.
    var unreadableFields: [String: ItemValue] = [:]
    /// What the server says about it.
    var message: String?
    /// The value of `Retry-After`, unchanged.
    var retryAfter: String?
}

/// What an answer means for the operation.
enum AttemptOutcome: Sendable, Hashable {
    /// The server has it: the row as it is there now, or `nil` when it is gone or was not told.
    case succeeded(Item?)
    /// The server's row must be fetched to decide.
    case undecided
    /// An earlier attempt was applied; the operation goes on from this row.
    case continues(from: Item)
    /// The server has another state of the row, or `nil` when it has none.
    case conflict(status: Int, serverItem: Item?)
    /// The server refuses the operation, and has not applied it.
    case refused(status: Int, SyncError.Code, message: String?)
    /// The service may or may not have applied it.
    case unknown(status: Int, message: String?)
    /// The server requires the user to sign in.
    case unauthenticated
    /// The answer says nothing about the operation: the service is not answering.
    case unavailable(status: Int, message: String?, retryAfter: String?)
}

extension AttemptResponse {
    /// What this answer to the attempt means.
    ///
    /// A conflict answer is success when the server's row is what an attempt of this client left behind: the answer to
    /// that one was lost, or the request was delivered twice.
    ///
    /// - Parameters:
    ///   - kind: what the operation is to do, which is not what was sent first if the user has changed the item again.
    ///   - sent: the content of the oldest attempt with unknown outcome.
    func verdict(on kind: TableOperation.Kind, sent: TableOperation.SentSnapshot) -> AttemptOutcome {
        switch classification {
        case .done: successVerdict(on: kind)
        case .conflict: row == nil ? .undecided : verdict(on: kind, sent: sent, status: status)
        case .rowMissing: kind == .delete ? .succeeded(nil) : .conflict(status: status, serverItem: nil)
        case .tableMissing: .refused(status: status, .tableNotOnServer, message: message)
        case .refused:
            .refused(
                status: status, message == nil ? .serverErrorWithoutMessage : .serverError, message: message)
        case .unknown: .unknown(status: status, message: message)
        case .unauthenticated: .unauthenticated
        case .unavailable: .unavailable(status: status, message: message, retryAfter: retryAfter)
        }
    }

    /// What it means that the server's row is the one of this answer, or that it has none.
    ///
    /// - Parameter status: the status of the answer that left it undecided.
    func verdict(
        on kind: TableOperation.Kind, sent: TableOperation.SentSnapshot, status: Int
    ) -> AttemptOutcome {
        guard let row, !(kind == .delete && row.system.deleted) else {
            return kind == .delete ? .succeeded(nil) : .conflict(status: status, serverItem: nil)
        }
        var shown = row
        shown.fields.merge(unreadableFields) { _, unreadable in unreadable }
        guard sent.kind != .delete, sent.isApplied(in: shown) else {
            return .conflict(status: status, serverItem: row)
        }
        return kind == .delete ? .continues(from: row) : .succeeded(row)
    }

    private func successVerdict(on kind: TableOperation.Kind) -> AttemptOutcome {
        if kind == .delete { return .succeeded(nil) }
        // Only a row of the item is an answer to its operation.
        guard let row else { return .unknown(status: status, message: message) }
        // Without a version to check, servers change a deleted row and leave it deleted.
        return row.system.deleted ? .conflict(status: 409, serverItem: row) : .succeeded(row)
    }
}

extension AttemptResponse {
    /// Reads an answer. Only a row of the item asked for counts; in a conflict, only one with a version.
    init(_ answer: RemoteResponse, itemID: String?, definition: SyncTableDefinition, dialect: WireDialect) {
        self.init(
            status: answer.status, classification: answer.classification, message: answer.message,
            retryAfter: answer.retryAfter)
        guard let shown = try? answer.row(dialect: dialect)?.item,
            itemID.map(shown.id.hasSameBytes) ?? true, answer.isSuccess || shown.system.version != nil
        else { return }
        var (item, unreadable) = (shown, [String: ItemValue]())
        item.system.undeclared = definition.undeclared(in: shown.fields)
        item.fields = definition.normalizedFromServer { index in
            shown.fields[definition.columns[index].name]
        } orElse: { column, _ in
            unreadable[column] = shown.fields[column]
        }
        unreadableFields = unreadable
        // Updates that replace the whole row send them back as they came.
        item.system.undeclared.merge(unreadable) { _, shown in shown }
        row = item
    }
}
