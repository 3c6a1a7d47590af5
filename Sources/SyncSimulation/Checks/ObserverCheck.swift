// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import SyncModels
import Synchronization

/// Checks that an observer of a table sees committed states only, in the order of the commits, and the last one.
final class ObserverCheck: Sendable {
    /// An item without its system properties: a change of them alone is not observed.
    struct Row: Equatable {
        let id: String
        let fields: [String: ItemValue]

        init(_ item: Item, isTyped: Bool) {
            id = item.id
            // A property does not show whether its column is null or missing.
            fields = isTyped ? item.fields.filter { !$0.value.isNull } : item.fields
        }

        init(_ model: ObservedModel) {
            id = model.id.text
            fields = [
                "a": model.a?.itemValue, "b": model.b?.itemValue, "stamp": model.stamp?.itemValue,
                "note": model.note?.itemValue,
            ].compactMapValues(\.self)
        }
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
    /// Whether it observes models: see ``ObservedModel``.
    private let isTyped: Bool
    private let state = Mutex(State())
    private let task = Mutex<Task<Void, Never>?>(nil)

    init(table: String, process: Int, isTyped: Bool, initial: [Item]) {
        (self.table, self.process, self.isTyped) = (table, process, isTyped)
        state.withLock { $0.states = [initial.map { Row($0, isTyped: isTyped) }] }
    }

    /// Observes on a task of the simulation.
    ///
    /// - Parameter fail: called with the description of a state that was not committed, or came too late, or of changes
    ///   that do not lead to it.
    func begin(
        _ context: SyncContext, on scheduler: SimulationScheduler,
        fail: @escaping @Sendable (String) -> Void
    ) {
        let table = context.table(table)
        let observation = Task(executorPreference: scheduler) {
            do {
                if self.isTyped {
                    var previous: [Row]?
                    for try await page in context.table(ObservedModel.self).live() {
                        let rows = page.models.map(Row.init)
                        if let problem = self.problem(with: rows) ?? page.problem(after: previous) {
                            return fail(problem)
                        }
                        previous = rows
                    }
                } else {
                    for try await result in table.observe(table.query) {
                        if let problem = self.problem(with: result.items.map { Row($0, isTyped: false) }) {
                            return fail(problem)
                        }
                    }
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
        let rows = items.map { Row($0, isTyped: isTyped) }
        state.withLock { if $0.states.last != rows { $0.states.append(rows) } }
    }

    private func problem(with rows: [Row]) -> String? {
        state.withLock { state in
            guard
                let index = state.states.indices.dropFirst(max(0, state.seen)).first(where: {
                    state.states[$0] == rows
                })
            else {
                return
                    "An observer saw \(rows.map(\.fields)), which is no state since the one it saw before."
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
