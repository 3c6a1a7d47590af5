// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Synchronization

/// Checks that an observer of a table sees committed states only, in the order of the commits, and the last one.
final class ObserverCheck: Sendable {
    /// An item without its system properties: a change of them alone is not observed.
    private struct Row: Equatable {
        let id: String
        let fields: [String: ItemValue]

        init(_ item: Item) { (id, fields) = (item.id, item.fields) }
    }

    private struct State {
        /// The states of the table since the observation began.
        var states: [[Row]] = []
        /// The index of the state that was seen last.
        var seen = -1
        var isEnded = false
        var isClosing = false
    }

    let table: String
    /// The process that observes.
    let process: Int
    private let state = Mutex(State())
    private let task = Mutex<Task<Void, Never>?>(nil)

    init(table: String, process: Int, initial: [Item]) {
        (self.table, self.process) = (table, process)
        state.withLock { $0.states = [initial.map(Row.init)] }
    }

    /// Observes on a task of the simulation.
    ///
    /// - Parameter fail: called with the description of a state that was not committed, or came too late.
    func begin(
        _ table: SyncTable, on scheduler: SimulationScheduler, fail: @escaping @Sendable (String) -> Void
    ) {
        let observation = Task(executorPreference: scheduler) {
            do {
                for try await result in table.observe(table.query) {
                    if let problem = self.problem(with: result.items) { return fail(problem) }
                }
            } catch {
                // The store of a process that has ended fails.
                let isClosing = self.state.withLock { state in
                    defer { state.isEnded = true }
                    return state.isClosing && !state.isEnded
                }
                if isClosing, (error as? SyncError)?.code == .contextInvalid {
                    fail("An observation threw at the close of its context: \(error)")
                }
            }
        }
        task.withLock { $0 = observation }
    }

    /// Records that the context is about to be closed: the observation must end without an error.
    func willClose() { state.withLock { $0.isClosing = true } }

    /// Records a commit.
    func didCommit(_ items: [Item]) {
        let rows = items.map(Row.init)
        state.withLock { if $0.states.last != rows { $0.states.append(rows) } }
    }

    private func problem(with items: [Item]) -> String? {
        let rows = items.map(Row.init)
        return state.withLock { state in
            guard
                let index = state.states.indices.dropFirst(max(0, state.seen)).first(where: {
                    state.states[$0] == rows
                })
            else {
                return
                    "An observer saw \(items.map(\.fields)), which is no state since the one it saw before."
            }
            state.seen = index
            return nil
        }
    }

    /// Returns why the observer has not seen the last state; `nil` if it has.
    var missedState: String? {
        state.withLock { state in
            guard !state.isEnded, state.seen >= 0 || state.states.count > 1 else { return nil }
            guard state.seen >= 0, state.states[state.seen] == state.states.last else {
                return "An observer has not seen the last state of \(table)."
            }
            return nil
        }
    }

    /// Ends the observation, and waits for its task.
    func end() async {
        let observation = task.withLock { $0 }
        observation?.cancel()
        await observation?.value
    }
}
