// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Synchronization

/// A device: a database that outlives the processes on it, and the history of its user.
final class SimulatedDevice: Sendable {
    struct State {
        var processes: [SimulatedProcess] = []
        var lastProcess = 0
        /// Whether purged rows are missing until a pull without query ID, as the app asked for.
        var lacksPurgedRows = false
        /// Whether the app was started with other columns: edits of a column that was not synced stay until the next pull.
        var hasChangedTables = false
        /// Copies of items that the user has open for editing.
        var copies: [RowKey: Item] = [:]
        /// Rows that the app has changed in its own database without queueing the change yet.
        var unqueued: Set<RowKey> = []
        /// Rows that the app has enqueued, and that have had a pending operation since.
        var adopted: Set<RowKey> = []
        /// The rows that the app has deleted in its own database without queueing the deletion yet.
        var deletedRows: [RowKey: Item] = [:]
        /// The last pending operation of each item at the last commit but one that changed it.
        var collapsed: [RowKey: PendingState] = [:]
        var pending: [RowKey: PendingState] = [:]
        /// The states of each server row that the store has had when the running attempt of its operation was marked.
        var known: [RowKey: (attempt: Timestamp, states: Set<ModelServer.RowState>)] = [:]
        var seen: [RowKey: Set<ModelServer.RowState>] = [:]
        /// The greatest operation id, and the greatest that was removed or is pending.
        var lastOperation: Int64 = 0
        var operations: Set<Int64> = []
        /// The code of each operation's error, and the rows that pulls have stored with operations, at the last commit.
        var errorCodes: [Int64: SyncError.Code] = [:]
        var pulledRows: [Int64: Item] = [:]
        /// The operations that another one of their item preceded, at the last commit, and the conflicts that pushes stored.
        var operationsBehind: Set<Int64> = []
        var conflictsOfPushes: Set<StoredConflict> = []
        /// When each pending operation was last attempted, at the last commit.
        var lastAttempts: [Int64: Timestamp?] = [:]
        /// The operations that the running push after the faults has not sent.
        var unsent: Set<Int64> = []
        /// Whether a cache has answered a list request with an older page.
        var hasReceivedOldPage = false
        /// Whether incremental pulls can leave out rows, or states of rows.
        var needsWholePull: Bool { lacksPurgedRows || hasReceivedOldPage }
        /// The delta tokens at the last commit.
        var tokens: [ConfigKey: String] = [:]
        var observers: [ObserverCheck] = []
        /// The items that were states of the server's row at earlier commits.
        var checkedItems: [RowKey: Item] = [:]
        /// The newest state that each item had without a pending operation, as the number of the server's change.
        var newestStates: [RowKey: Int] = [:]
        /// The states that pushes have left.
        var pushedStates: [RowKey: PushedState] = [:]
        /// The rows with pending operations at the last commit.
        var rowsWithOperations: Set<RowKey> = []
        /// The act of the last request that has read each row.
        var lastReads: [RowKey: UInt64] = [:]
        /// The refusals that the device has received.
        var refusals = RefusalCounts()
        /// Rows that a response to a write or read has shown with values that cannot be read.
        var partial: Set<RowKey> = []
        /// Rows that the app has changed in its own database, and rows that a delegate has returned after a while. If
        /// versions restart, nothing shows the device which row their version belongs to.
        var rowsOfUnknownBase: Set<RowKey> = []
        /// Rows whose item the app has deleted in its database, and whose deletion it may have queued twice, or after a push
        /// has dropped their changes.
        var deletedLate: Set<RowKey> = []
        /// Rows whose item the app has deleted in its database. Such an operation does not show which versions the device's own
        /// pushes have replaced, so that an old page of a cache can be a conflict.
        var deletedDirectly: Set<RowKey> = []
        /// Rows whose column `a` a delegate has changed, which the user then sees.
        var rowsEditedByDelegate: Set<RowKey> = []
        /// Rows that a delegate is inserting by a request of its own.
        var rowsInsertedByDelegate: Set<RowKey> = []
        /// Rows whose insert has arrived after its process or its operation had ended.
        var rowsInsertedLate: Set<RowKey> = []
        /// Whether new processes may sync automatically, if the device does.
        var syncsAutomatically = true
        var serverAddress = "https://server.example"
        /// Whether the resolver decides about every conflict.
        var hasDecidingResolver = false
        /// How far the device's clock is ahead, in nanoseconds.
        var clockOffset: Int64 = 0
        /// How often the app has begun or ended to remove rows without the user's edits.
        var removalCount = 0
        /// How many acts that send requests have begun, and how many of them are running.
        var (syncCount, runningSyncs) = (0, 0)
    }

    /// A pending operation, as an edit meets it.
    struct PendingState {
        /// The item's first operation, which is sent first.
        let firstID: Int64
        let firstKind: TableOperation.Kind
        let kind: String
        let isAttempted: Bool
    }

    let name: String
    let number: UInt64
    let disk: SimulatedDisk
    let history: History
    let state = Mutex(State())
    private let makeProcess: @Sendable (SimulatedDevice, Int) -> SimulatedProcess

    /// - Parameter makeProcess: starts a process with this number.
    init(
        number: Int, disk: SimulatedDisk,
        makeProcess: @escaping @Sendable (SimulatedDevice, Int) -> SimulatedProcess
    ) {
        name = "device \(number)"
        self.number = UInt64(number)
        self.disk = disk
        self.makeProcess = makeProcess
        history = History(device: number + 1)
        for index in 0..<(disk.isShared ? 2 : 1) { start(index) }
    }

    var processes: [SimulatedProcess] { state.withLock { $0.processes } }

    /// Returns the process that performs an act.
    func process(for number: Int) -> SimulatedProcess {
        let processes = processes
        return processes[number % processes.count]
    }

    /// Ends the processes, whose callbacks refer to the device.
    func endProcesses() {
        for process in processes { process.store.end() }
        state.withLock { ($0.processes, $0.observers) = ([], []) }
    }

    private func start(_ index: Int) {
        let number = state.withLock { state in
            state.lastProcess += 1
            return state.lastProcess
        }
        let process = makeProcess(self, number)
        state.withLock { state in
            if index < state.processes.count {
                state.processes[index] = process
            } else {
                state.processes.append(process)
            }
        }
    }

    /// Ends the process that performs acts of this number, and starts another.
    func restart(_ number: Int, at address: String? = nil) {
        if let address { state.withLock { $0.serverAddress = address } }
        let processes = processes
        processes[number % processes.count].end()
        start(number % processes.count)
    }

    /// Starts a process in place of each that has crashed.
    func restartCrashed() {
        for (index, process) in processes.enumerated() where process.store.hasEnded {
            process.end()
            start(index)
        }
    }

    /// Ends all processes, opens the database with other tables, and starts them again.
    func reopen(with tables: [SyncTableDefinition]) throws {
        for process in processes { process.end() }
        try disk.reopen(with: tables)
        for index in processes.indices { start(index) }
    }
}

extension SimulatedDevice {
    /// Whether a row that is no tombstone can be in conflict: a device alone has no conflicts with its own changes.
    func canHaveConflict(of row: RowKey, _ mode: SimulationMode, _ server: ModelServer) -> Bool {
        // If the server's clock steps back, a state before a push can seem to be later.
        if mode != .solo || server.traits.hasUnsteadyClock || server.wasRestored(row) { return true }
        // Without a base, what the device's own attempt has left cannot be told from another client's change.
        let isUnknown = state.withLock {
            $0.rowsOfUnknownBase.contains(row) || $0.deletedLate.contains(row)
                || $0.refusals.seemingConflicts.contains(row)
                || $0.hasReceivedOldPage && $0.deletedDirectly.contains(row)
        }
        if isUnknown { return true }
        // Nothing tells a column that the server has computed from another client's change of a row that the user deletes.
        if server.traits.hasHook,
            history.snapshot.edits.contains(where: { $0.key == row && $0.column == nil })
        {
            return true
        }
        // The app can discard a change that the server has applied without a response.
        return history.snapshot.decisions.contains { $0.key == row }
    }
}
