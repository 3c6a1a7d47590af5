// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Synchronization

/// A row of a table.
struct RowKey: Sendable, Hashable, CustomStringConvertible {
    let table: String
    let id: String
    var description: String { "\(table)/\(id)" }
}

/// One committed edit of the app: of one field, or a deletion.
struct Edit: Sendable {
    /// The value of the field. Numbers increase in the order of commits.
    let number: Int64
    let key: RowKey
    /// The field; `nil` for a deletion.
    let column: String?
    /// The value that the user saw when they made the edit.
    var before: Int64?
    /// For a deletion: whether the server had returned the row.
    var hadVersion = false
    /// For a deletion: the values of the item.
    var deleted: [Int64] = []
    /// For a deletion: the number of the server's changes before it.
    var madeAt = 0
    /// Whether it is in an item that was there before it was synchronized, which replaces the server's row.
    var isAdopted = false
    /// For an adopted edit: the newest edit of the device when the item first had no pending operation. Later edits replace
    /// only what the user has seen.
    var completedAt: Int64?
    /// For an adopted edit: the number of the server's changes when the item first had no pending insert. Later changes of
    /// other users are not replaced.
    var insertedAt: Int?
    /// Whether a decision of the app replaced it.
    var isOverruled = false
    /// For a field that an insert leaves out: a field that the insert has. A row with that field must not have this one.
    var companion: Companion?

    /// A field that was inserted.
    struct Companion: Sendable {
        let column: String
        let number: Int64
    }
}

/// What the user of one device has done and seen, independently of the framework's queue.
final class History: Sendable {
    /// A decision that saw these values of the server's row.
    struct Decision: Sendable {
        let key: RowKey
        let seen: [String: Int64]
    }

    struct State: Sendable {
        var edits: [Edit] = []
        var decisions: [Decision] = []
        /// Edits of the bodies that run in the current transaction.
        fileprivate var staged: [Edit] = []
        fileprivate var stagedLocalOnly: [LocalOnlyEdit] = []
        fileprivate var stagedCounts: [RowKey] = []
        /// How often the user has counted in each row.
        fileprivate(set) var counts: [RowKey: Int64] = [:]
        /// The last edit of each item's column that exists on the device only.
        fileprivate(set) var localOnly: [RowKey: LocalOnlyEdit] = [:]
        /// What the app gave up, and the newest number at that time.
        fileprivate var givenUp: [(newest: Int64, contains: @Sendable (RowKey) -> Bool)] = []
        fileprivate var lastNumber: Int64 = 0
    }

    private let state: Mutex<State>
    /// Each device's numbers have this remainder, so that no two devices make the same value.
    private let device: Int64
    static let deviceCount: Int64 = 8

    init(device: Int) {
        self.device = Int64(device)
        state = Mutex(State())
    }

    var snapshot: State { state.withLock { $0 } }

    /// Returns the number of a new edit.
    func nextNumber() -> Int64 {
        state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber * Self.deviceCount + device
        }
    }

    /// The greatest number of a committed edit.
    var lastNumber: Int64 { state.withLock { $0.edits.map(\.number).max() ?? 0 } }

    // MARK: Edits

    /// Records edits that are committed already. The app can have given them up since their commit.
    func record(_ edits: [Edit]) {
        state.withLock { state in
            state.edits += edits.map { edit in
                var edit = edit
                edit.isOverruled = state.givenUp.contains {
                    edit.number <= $0.newest && $0.contains(edit.key)
                }
                return edit
            }
        }
    }

    /// Forgets edits of an earlier transaction that was not committed.
    func transactionBegins() {
        state.withLock { ($0.staged, $0.stagedLocalOnly, $0.stagedCounts) = ([], [], []) }
    }

    /// Adds edits that take effect when the current transaction is committed.
    func stage(_ edits: [Edit]) { state.withLock { $0.staged += edits } }

    /// Adds an edit of a column that exists on the device only.
    func stage(_ edit: LocalOnlyEdit) { state.withLock { $0.stagedLocalOnly.append(edit) } }

    /// Adds one to the row's counter.
    func stage(countIn key: RowKey) { state.withLock { $0.stagedCounts.append(key) } }

    /// Records the edits of a transaction that was committed after a number of changes of the server.
    ///
    /// - Returns: these edits.
    func transactionCommitted(at changeCount: Int) -> [Edit] {
        state.withLock { state in
            defer { (state.staged, state.stagedLocalOnly, state.stagedCounts) = ([], [], []) }
            for index in state.staged.indices { state.staged[index].madeAt = changeCount }
            state.edits += state.staged
            for edit in state.stagedLocalOnly { state.localOnly[edit.key] = edit }
            for key in state.stagedCounts { state.counts[key, default: 0] += 1 }
            return state.staged
        }
    }

    /// Forgets the edits of columns that exist on the device only, because their items or columns were removed.
    func forgetLocalOnlyEdits(where isRemoved: (RowKey) -> Bool) {
        state.withLock { state in state.localOnly = state.localOnly.filter { !isRemoved($0.key) } }
    }

    /// Records that an item has no pending operation.
    func complete(_ key: RowKey) {
        state.withLock { state in
            let newest = state.edits.map(\.number).max()
            for index in state.edits.indices
            where state.edits[index].key == key && state.edits[index].isAdopted
                && state.edits[index].completedAt == nil
            {
                state.edits[index].completedAt = newest
            }
        }
    }

    /// Records that an item has no pending insert after a number of changes of the server.
    func completeInsert(_ key: RowKey, at changeCount: Int) {
        state.withLock { state in
            for index in state.edits.indices
            where state.edits[index].key == key && state.edits[index].isAdopted
                && state.edits[index].insertedAt == nil
            {
                state.edits[index].insertedAt = changeCount
            }
        }
    }

    // MARK: Decisions

    /// Records that a decision replaced the edits of a row up to this number.
    func overrule(_ key: RowKey, upTo number: Int64, column: String? = nil) {
        state.withLock { state in
            for index in state.edits.indices
            where state.edits[index].key == key && state.edits[index].number <= number
                && (column == nil || state.edits[index].column == column)
            {
                state.edits[index].isOverruled = true
            }
        }
    }

    /// Records that the app gave up all edits of these rows.
    func giveUp(where isGivenUp: @escaping @Sendable (RowKey) -> Bool) {
        overrule(where: { isGivenUp($0.key) })
        state.withLock { state in
            state.givenUp.append((state.lastNumber * Self.deviceCount + device, isGivenUp))
        }
    }

    /// Records that the app gave up all edits that match.
    func overrule(where isGivenUp: (Edit) -> Bool) {
        state.withLock { state in
            for index in state.edits.indices where isGivenUp(state.edits[index]) {
                state.edits[index].isOverruled = true
            }
        }
    }

    /// Records that a decision about a row saw this state of the server's row.
    func see(_ key: RowKey, _ serverItem: Item?) {
        let seen = (serverItem?.fields ?? [:]).compactMapValues { EditValue.number($0) }
        state.withLock { $0.decisions.append(Decision(key: key, seen: seen)) }
    }

    /// Returns the number of the newest edit that an item shows, so that edits made after it was read do not count.
    static func newestNumber(in item: Item) -> Int64 { numbers(in: item).max() ?? 0 }

    /// Returns the numbers of the edits that an item shows.
    static func numbers(in item: Item) -> [Int64] { item.fields.values.compactMap { EditValue.number($0) } }
}
