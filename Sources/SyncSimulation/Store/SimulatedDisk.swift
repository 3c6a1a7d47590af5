// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Synchronization

/// The storage of one device. It outlives the device's processes, which may share it.
final class SimulatedDisk: Sendable {
    /// Opens the device's database with these tables; closes it first if it is open. Its content stays.
    typealias Open = @Sendable ([SyncTableDefinition]) throws -> any SyncContextDataSource

    private struct State {
        var store: any SyncContextDataSource
        /// The number of commits, by process.
        var commits: [Int: Int] = [:]
        var pushLockHolder: Int?
        var handlers: [(process: Int, handler: @Sendable () -> Void)] = []
    }

    /// Whether several processes have the database open.
    let isShared: Bool
    private let open: Open
    private let state: Mutex<State>

    init(isShared: Bool, tables: [SyncTableDefinition], open: @escaping Open) throws {
        self.isShared = isShared
        self.open = open
        state = Mutex(State(store: try open(tables)))
    }

    var store: any SyncContextDataSource { state.withLock { $0.store } }

    /// Opens the database with other tables. No process may use it.
    func reopen(with tables: [SyncTableDefinition]) throws {
        let store = try open(tables)
        state.withLock { $0 = State(store: store, commits: $0.commits) }
    }

    // MARK: Processes

    /// Returns how many commits the other processes have made.
    func commits(besides process: Int) -> Int {
        state.withLock { state in
            state.commits.values.reduce(0, +) - (state.commits[process] ?? 0)
        }
    }

    /// Counts a commit, and tells the other processes of it.
    func didCommit(_ process: Int) {
        let handlers = state.withLock { state in
            state.commits[process, default: 0] += 1
            return state.handlers.filter { $0.process != process }
        }
        for handler in handlers { handler.handler() }
    }

    func onCommit(besides process: Int, _ handler: @escaping @Sendable () -> Void) {
        state.withLock { $0.handlers.append((process, handler)) }
    }

    /// Acquires the push lock, and returns whether it was free.
    func tryLockPush(_ process: Int) -> Bool {
        state.withLock { state in
            guard state.pushLockHolder == nil else { return false }
            state.pushLockHolder = process
            return true
        }
    }

    func unlockPush(_ process: Int) {
        state.withLock { if $0.pushLockHolder == process { $0.pushLockHolder = nil } }
    }

    /// Releases what a process holds.
    func processEnded(_ process: Int) {
        unlockPush(process)
        state.withLock { $0.handlers.removeAll { $0.process == process } }
    }
}
