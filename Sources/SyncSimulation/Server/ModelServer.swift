// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import SyncCore
import Synchronization

/// A tables server (v2), written from the protocol alone, with a journal of all changes that it has accepted.
final class ModelServer: Sendable {
    struct Row: Sendable, Hashable {
        let id: String
        var fields: [String: ModelJSON]
        var createdAt: ModelTime
        var updatedAt: ModelTime
        var version: Int
        var isDeleted = false
        /// Whether the row has no `updatedAt` yet.
        var isUndated = false
        /// Whether `updatedAt` is later than the time of the change.
        var isFuture = false
    }

    /// One accepted change.
    struct Mutation: Sendable {
        enum Kind: Sendable { case insert, update, delete, undelete }

        /// The device that requested it, or the other user's name.
        let author: String
        let kind: Kind
        let table: String
        let id: String
        let before: Row?
        let after: Row?
        /// Whether the request named the version that it replaces.
        let isConditional: Bool
        /// Whether the author's device had the replaced state when it sent the request; `true` if versions never restart,
        /// because then the condition tells.
        let wasKnown: Bool
    }

    /// What identifies a state of a row, as clients see it.
    struct RowState: Sendable, Hashable {
        let version: String
        /// Nanoseconds since 1970; 0 without `updatedAt`.
        let updatedAt: Int64
    }

    struct State {
        var rows: [String: [String: Row]]
        /// The last version of rows that were deleted for good.
        var lastVersions: [String: Int] = [:]
        /// Their last `updatedAt`.
        var lastTimes: [String: ModelTime] = [:]
        /// The rows whose writes the server refuses, with the status.
        var refusals: [String: Int] = [:]
        var traits: ModelServerTraits
        var journal: [Mutation] = []
        var lastTime: Int64 = 0
        /// Whether rows are added without `updatedAt`.
        var isImporting = false
        /// How far the server's clock is from the simulation's, in nanoseconds.
        var clockOffset: Int64 = 0
    }

    /// The synced columns of each table; missing values are shown as null.
    let columns: [String: [String]]
    /// A column of each table that other users change.
    private let overtakenColumns: [String: SyncColumn]
    private let state: Mutex<State>
    private let clock: @Sendable () -> Int64
    /// The user who changes rows on the server itself.
    static let otherUser = "other user"
    /// The column that only other users write.
    static let undeclaredColumn = "undeclared"

    /// - Parameter clock: returns nanoseconds since 1970.
    init(app: SimulatedApp, traits: ModelServerTraits, clock: @escaping @Sendable () -> Int64) {
        let columns = app.tables.map { ($0.name, $0.columns.filter { !$0.isLocalOnly }.map(\.name)) }
        self.columns = Dictionary(uniqueKeysWithValues: columns)
        let overtaken = app.tables.compactMap { table in
            app.editedColumns(of: table).first.map { (table.name, $0) }
        }
        overtakenColumns = Dictionary(uniqueKeysWithValues: overtaken)
        state = Mutex(State(rows: self.columns.mapValues { _ in [:] }, traits: traits))
        self.clock = clock
    }

    var journal: [Mutation] { state.withLock { $0.journal } }
    /// The number of all accepted changes.
    var changeCount: Int { state.withLock { $0.journal.count } }

    /// Whether the table has ever had rows.
    func hasChanged(_ table: String) -> Bool {
        state.withLock { state in state.journal.contains { $0.table == table } }
    }

    var traits: ModelServerTraits { state.withLock { $0.traits } }

    func rows(of table: String) -> [String: Row] { state.withLock { $0.rows[table] ?? [:] } }

    /// Whether the row is deleted, and its tombstone is kept.
    func hasTombstone(of key: RowKey) -> Bool {
        state.withLock { $0.rows[key.table]?[key.id]?.isDeleted ?? false }
    }

    /// Whether the last change of the row has restored it from its tombstone. A client that did not receive the response
    /// cannot tell it from another client's change.
    func wasRestored(_ key: RowKey) -> Bool {
        state.withLock { state in
            state.journal.last { $0.id == key.id && $0.table == key.table }?.kind == .undelete
        }
    }

    /// Returns the index of the last change that left the row in such a state; `nil` without one.
    func lastState(of key: RowKey, where matches: (Row) -> Bool) -> Int? {
        state.withLock { state in
            state.journal.lastIndex { mutation in
                mutation.id == key.id && mutation.table == key.table && mutation.after.map(matches) == true
            }
        }
    }

    func change(_ body: @Sendable (inout ModelServerTraits) -> Void) { state.withLock { body(&$0.traits) } }

    /// Sets how far the server's clock is from the simulation's, if it is unsteady.
    func setClock(offset: Int64) {
        state.withLock { if $0.traits.hasUnsteadyClock { $0.clockOffset = offset } }
    }

    /// Refuses writes of a row with this status; `nil` accepts them again.
    func refuse(_ id: String, in table: String, status: Int?) {
        state.withLock { $0.refusals[table + "/" + id] = status }
    }

    /// The header `Server` of a refusal, for checks.
    static let refusing = "refuses"

    /// Whether the server refuses the write, and does not report a conflict with the same status: there is no row of the id, or it
    /// is as the device has it, but a value must be unique, the user may only see the row, or a gateway does not know conditions.
    private func refuses(_ write: Write, _ phase: RequestPhase, with status: Int, _ state: State) -> Bool {
        guard [404, 409, 412].contains(status) else { return true }
        let row = state.rows[write.table]?[write.rowID]
        if phase == .insert { return row == nil && status != 404 }
        guard let row, write.matches(row) else { return false }
        return !row.isDeleted || phase == .undelete
    }

    /// Accepts writes of all rows.
    func acceptAll() { state.withLock { $0.refusals = [:] } }

    /// Answers one request.
    ///
    /// - Parameter known: the states of the row that the author's device had when it sent the request.
    func respond(
        to request: ModelRequest, from author: String, known: Set<RowState> = []
    ) -> HTTPTransportResponse {
        let (path, head) = (request.path, request.original.head)
        return state.withLock { state in
            guard path.count >= 2, path[0] == "tables", state.rows[path[1]] != nil else {
                return failure(404, "There is no such table.", state)
            }
            let write = Write(
                author: author, table: path[1], id: path.count > 2 ? path[2] : "", body: request.body,
                match: head.headerFields[.ifMatch], includesDeleted: request.includesDeleted, known: known,
                ignoresMatch: state.traits.ignoresConditions)
            if let status = state.refusals[write.table + "/" + write.rowID],
                request.phase.isWrite, refuses(write, request.phase, with: status, state)
            {
                let error = ModelJSON.object(["error": .text("The server refuses changes of this row.")])
                return respond(status, error, [.server: Self.refusing], state)
            }
            switch (head.method, path.count) {
            case (.get, 2): return list(write.table, request, state)
            case (.post, 2): return insert(write, &state)
            case (.get, _):
                guard let row = state.rows[write.table]?[write.id] else {
                    return failure(404, "The item does not exist.", state)
                }
                guard !row.isDeleted else { return gone(state) }
                return answer(200, row, write.table, state)
            case (.patch, _): return update(write, &state)
            case (.put, _) where state.traits.dialect.replacesRows: return replace(write, &state)
            case (.delete, _): return delete(write, &state)
            case (.post, _): return undelete(write, &state)
            default: return failure(405, "The method is not allowed.", state)
            }
        }
    }

    // MARK: Other users

    /// Changes or inserts a row, as another user of the server does.
    func write(_ id: String, _ fields: [String: ModelJSON], in table: String, isLate: Bool) {
        state.withLock { state in
            let offset = state.clockOffset
            if isLate, state.traits.hasUnsteadyClock { state.clockOffset -= 2_000_000_000 }
            defer { state.clockOffset = offset }
            let write = Write(author: Self.otherUser, table: table, id: id, body: nil, match: nil)
            if var row = state.rows[table]?[id] {
                if isLate, state.traits.hasFutureRows, !row.isFuture, !row.isUndated {
                    row.isFuture = true
                    row.updatedAt = ModelTime(nanoseconds: row.updatedAt.nanoseconds + 3_600_000_000_000)
                }
                if !row.isDeleted { _ = change(row, fields, .update, write, &state) }
            } else {
                _ = add(fields, write, &state)
            }
        }
    }

    /// Changes a row as another user does, or restores it if it is deleted.
    ///
    /// - Parameter number: the number of the change's value.
    func overtake(_ key: RowKey, by number: Int64) {
        state.withLock { state in
            guard let column = overtakenColumns[key.table] else { return }
            let fields = [column.name: EditValue.model(number, column.type)]
            let write = Write(author: Self.otherUser, table: key.table, id: key.id, body: nil, match: nil)
            if let row = state.rows[key.table]?[key.id] {
                _ = change(row, fields, row.isDeleted ? .undelete : .update, write, &state)
            } else if state.lastVersions["\(key.table)/\(key.id)"] != nil {
                _ = add(fields, write, &state)
            }
        }
    }

    /// Adds a row without `updatedAt`.
    func importRow(_ id: String, _ fields: [String: ModelJSON], in table: String) {
        state.withLock { state in
            let write = Write(author: Self.otherUser, table: table, id: id, body: nil, match: nil)
            state.isImporting = true
            _ = add(fields, write, &state)
            state.isImporting = false
        }
    }

    /// Adds a row that was changed long before all others.
    func addOldRow(_ id: String, in table: String) {
        state.withLock { state in
            let time = ModelTime(nanoseconds: 1_000_000_000_000_000_000)
            let row = Row(id: id, fields: [:], createdAt: time, updatedAt: time, version: 1)
            state.rows[table]?[id] = row
            let write = Write(author: Self.otherUser, table: table, id: id, body: nil, match: nil)
            record(.insert, write, before: nil, after: row, &state)
        }
    }

    /// Deletes a row, as another user of the server does.
    func delete(_ id: String, in table: String) {
        state.withLock { state in
            guard let row = state.rows[table]?[id], !row.isDeleted else { return }
            remove(row, Write(author: Self.otherUser, table: table, id: id, body: nil, match: nil), &state)
        }
    }

    /// Removes all tombstones for good, as servers do after some weeks.
    func collectTombstones() {
        state.withLock { state in
            for (table, rows) in state.rows {
                for row in rows.values where row.isDeleted {
                    state.lastVersions["\(table)/\(row.id)"] = row.version
                    state.lastTimes["\(table)/\(row.id)"] = row.updatedAt
                    state.rows[table]?[row.id] = nil
                }
            }
        }
    }

    // MARK: Writes

    struct Write {
        let author: String
        let table: String
        let id: String
        let body: ModelJSON?
        /// The value of `If-Match`.
        let match: String?
        var includesDeleted = false
        var known: Set<RowState> = []
        var ignoresMatch = false

        /// The row's id, which an insert has in its body.
        var rowID: String {
            if case .object(let fields)? = body, id.isEmpty { fields["id"]?.text ?? "" } else { id }
        }

        func matches(_ row: Row) -> Bool { match == nil || ignoresMatch || match == "\"\(row.version)\"" }
    }

    func now(_ state: State) -> Int64 { clock() + state.clockOffset }

    /// - Parameter row: the row that is changed: its `updatedAt` never goes back.
    private func nextTime(_ state: inout State, after row: Row? = nil) -> ModelTime {
        if let row, row.isFuture {
            let later = row.updatedAt.nanoseconds + Self.unit(digits: state.traits.shownDigits)
            if later > now(state) { return ModelTime(nanoseconds: later) }
        }
        let unit = Self.unit(digits: state.traits.keptDigits)
        let now = now(state) / unit * unit
        state.lastTime = state.traits.hasUnsteadyClock ? now : max(state.lastTime, now)
        return ModelTime(nanoseconds: state.lastTime)
    }

    /// The nanoseconds of the last fraction digit.
    private static func unit(digits: Int) -> Int64 { (0..<(9 - digits)).reduce(1) { unit, _ in unit * 10 } }

    func add(_ fields: [String: ModelJSON], _ write: Write, _ state: inout State) -> Row {
        var time = nextTime(&state)
        if let removed = state.lastTimes["\(write.table)/\(write.id)"] {
            // Two rows of one id never have the same version and time.
            let next = removed.nanoseconds + Self.unit(digits: state.traits.shownDigits)
            time = ModelTime(nanoseconds: max(time.nanoseconds, next))
            state.lastTime = max(state.lastTime, time.nanoseconds)
        }
        let last = state.traits.restartsVersions ? 0 : state.lastVersions["\(write.table)/\(write.id)"] ?? 0
        var row = Row(id: write.id, fields: fields, createdAt: time, updatedAt: time, version: last + 1)
        row.isUndated = state.isImporting
        compute(&row, write, state)
        state.rows[write.table]?[write.id] = row
        record(.insert, write, before: nil, after: row, &state)
        return row
    }

    func change(
        _ row: Row, _ fields: [String: ModelJSON], _ kind: Mutation.Kind, _ write: Write, _ state: inout State
    ) -> Row {
        var next = row
        next.fields.merge(fields) { _, new in new }
        compute(&next, write, state)
        if kind == .undelete { next.isDeleted = false }
        next.version += 1
        (next.updatedAt, next.isUndated) = (nextTime(&state, after: row), false)
        state.rows[write.table]?[row.id] = next
        record(kind, write, before: row, after: next, &state)
        return next
    }

    /// Sets the columns that no device writes.
    private func compute(_ row: inout Row, _ write: Write, _ state: State) {
        let number = ModelJSON.int(Int64(state.journal.count))
        if state.traits.hasHook { row.fields["stamp"] = number }
        if state.traits.hasUndeclaredColumn, write.author == Self.otherUser {
            row.fields[Self.undeclaredColumn] = number
        }
    }

    func remove(_ row: Row, _ write: Write, _ state: inout State) {
        var tombstone: Row?
        if state.traits.hasSoftDelete {
            tombstone = row
            tombstone?.isDeleted = true
            tombstone?.version += 1
            tombstone?.updatedAt = nextTime(&state, after: row)
            tombstone?.isUndated = false
        } else {
            state.lastVersions["\(write.table)/\(row.id)"] = row.version
            state.lastTimes["\(write.table)/\(row.id)"] = row.updatedAt
        }
        state.rows[write.table]?[row.id] = tombstone
        record(.delete, write, before: row, after: tombstone, &state)
    }

    private func record(
        _ kind: Mutation.Kind, _ write: Write, before: Row?, after: Row?, _ state: inout State
    ) {
        state.journal.append(
            Mutation(
                author: write.author, kind: kind, table: write.table, id: write.id, before: before,
                after: after,
                isConditional: kind == .insert || write.match != nil || write.author == Self.otherUser,
                wasKnown: !state.traits.restartsVersions || before.map { isKnown($0, write, state) } ?? true))
    }

    private func isKnown(_ row: Row, _ write: Write, _ state: State) -> Bool {
        // Without a steady clock, two rows of one id can have the same version and time.
        if state.traits.hasUnsteadyClock { return false }
        let updatedAt = row.updatedAt.shown(digits: state.traits.shownDigits).nanoseconds
        return write.known.contains(
            RowState(version: String(row.version), updatedAt: row.isUndated ? 0 : updatedAt))
    }
}
