// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension OperationSender {
    /// Asks the server until it is clear what became of the operation.
    ///
    /// - Throws: ``SyncError`` when the server cannot be asked, or gives no answer at all.
    func verdict(on attempt: Attempt) async throws -> AttemptOutcome {
        var version = attempt.snapshot.version
        var base = attempt.base
        var known = try await preliminaryVerdict(on: attempt)
        // One verdict may prove an earlier attempt; the operation then goes on from the row that it left.
        for _ in 0..<2 {
            let verdict: AttemptOutcome
            if let known {
                verdict = known
            } else {
                verdict = try await answeredVerdict(on: attempt, version, base: base)
            }
            guard case .continues(let row) = verdict else { return verdict }
            let isDelete = attempt.operation.kind == .delete
            guard !isDelete || attempt.isBase(row, with: attempt.proof.fields, definition) else {
                return .conflict(status: 412, serverItem: row)
            }
            (version, base, known) = (row.system.version, row, nil)
        }
        return .unknown(status: 412, message: nil)
    }

    /// What is known, or has to be asked, before the operation itself can be sent; `nil` when nothing has.
    private func preliminaryVerdict(on attempt: Attempt) async throws -> AttemptOutcome? {
        let (kind, version) = (attempt.operation.kind, attempt.snapshot.version)
        if let known = knownVerdict(on: attempt) { return known }
        // A delete whose row may never have arrived has no version to go by: it looks first.
        if kind == .delete, version == nil, attempt.proof.kind == .insert {
            return try await verdictOnServerItem(attempt, status: 409)
        }
        guard attempt.operation.undeletes else { return nil }
        let undelete = RemoteCall.Action.undelete(
            id: attempt.operation.itemID,
            fields: body(of: attempt, base: attempt.base), version: version)
        let verdict = try await answer(to: undelete, for: attempt).verdict(on: kind, sent: attempt.proof)
        switch verdict {
        case .succeeded(let row?) where !attempt.snapshot.fields.isEmpty:
            return .continues(from: row)
        // The row lives again and is as it was, by a request whose answer was lost: only the fields have to follow.
        case .conflict(_, let row?) where attempt.isBase(row, definition):
            return .continues(from: row)
        default:
            return verdict
        }
    }

    private func answeredVerdict(
        on attempt: Attempt, _ version: String?, base: Item?
    ) async throws -> AttemptOutcome {
        let answer = try await answer(to: call(attempt, version: version, base: base), for: attempt)
        let verdict = answer.verdict(on: attempt.operation.kind, sent: attempt.proof)
        return verdict == .undecided ? try await verdictOnServerItem(attempt, status: answer.status) : verdict
    }

    /// A newer row that a pull has brought is a conflict already when the server could not notice it: without a version
    /// there is no condition that it checks, and a row that was deleted for good and inserted again has its first
    /// version again.
    private func knownVerdict(on attempt: Attempt) -> AttemptOutcome? {
        guard attempt.operation.kind != .insert, let row = attempt.operation.serverItem,
            let version = row.system.version
        else { return nil }
        if let sent = attempt.snapshot.version, let base = attempt.operation.base {
            let isRestarted = version.hasSameBytes(as: sent) && !row.isSameState(as: base)
            guard isRestarted else { return nil }
        } else if attempt.snapshot.version != nil {
            return nil
        }
        let known = AttemptResponse(status: 412, classification: .conflict, row: row)
        return known.verdict(on: attempt.operation.kind, sent: attempt.proof)
    }

    /// Fetches the server's row to decide what an answer with this status meant.
    private func verdictOnServerItem(_ attempt: Attempt, status: Int) async throws -> AttemptOutcome {
        let fetched = try await answer(to: .read(id: attempt.operation.itemID), for: nil)
        return switch fetched.classification {
        case .done where fetched.row != nil, .rowMissing:
            fetched.verdict(on: attempt.operation.kind, sent: attempt.proof, status: status)
        case .unauthenticated: .unauthenticated
        case .unavailable:
            .unavailable(
                status: fetched.status, message: fetched.message, retryAfter: fetched.retryAfter)
        case .done, .conflict, .tableMissing, .refused, .unknown:
            .unknown(status: fetched.status, message: fetched.message)
        }
    }

    /// The fields that an update sends. Where it replaces the whole row, it also sends what the row has in columns that
    /// the app does not sync; these are no part of what a later answer is compared with.
    ///
    /// - Parameter base: the row that the request's version belongs to.
    private func body(of attempt: Attempt, base: Item?) -> [String: ItemValue] {
        let fields = attempt.snapshot.fields
        guard context.client.dialect.updatesWholeRow, let base else { return fields }
        // Servers ignore case in the names of columns, and refuse a body that names one of them twice.
        let own = ["id"] + context.client.dialect.systemNames.all
        let sent = Set((own + fields.keys).map { $0.lowercased() })
        let kept = base.system.undeclared.filter { !sent.contains($0.key.lowercased()) }
        return fields.merging(kept) { sent, _ in sent }
    }

    private func call(_ attempt: Attempt, version: String?, base: Item?) -> RemoteCall.Action {
        let id = attempt.operation.itemID
        return switch attempt.snapshot.kind {
        case .insert: .insert(id: id, fields: attempt.snapshot.fields)
        case .update: .update(id: id, fields: body(of: attempt, base: base), version: version)
        case .delete: .delete(id: id, version: version)
        }
    }

    /// - Parameter attempt: whose writing this is; `nil` for reading.
    private func answer(to action: RemoteCall.Action, for attempt: Attempt?) async throws -> AttemptResponse {
        let call = RemoteCall(action, table: definition.name, features: .offline)
        let answer = try await context.ask(call) { attempt?.repetition.note() }
        return AttemptResponse(
            answer, itemID: call.itemID, definition: definition, dialect: context.client.dialect)
    }
}

extension OperationSender.Attempt {
    /// The row that the version of the request belongs to, or the one that is nearest to it.
    fileprivate var base: Item? {
        let known = [operation.base, item].compactMap(\.self)
        return known.first { $0.system.version == snapshot.version } ?? known.first
    }

    /// Whether nobody else has changed the row, as far as the base tells: it is the base, living, with those changes.
    fileprivate func isBase(
        _ row: Item, with changes: [String: ItemValue] = [:], _ definition: SyncTableDefinition
    ) -> Bool {
        guard let base = operation.base else { return true }
        var expected = TableOperation.SentSnapshot(kind: .update, fields: changes, version: nil)
        for column in definition.columns where !column.isLocalOnly && changes[column.name] == nil {
            expected.fields[column.name] = base.fields[column.name] ?? .null
        }
        return expected.isApplied(in: row)
    }
}
