// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreMemory
import SyncCore
import Synchronization

/// One edit that the app made and the framework acknowledged.
struct Edit: Sendable {
    let number: Int
    let id: String
    /// The field; `nil` for a deletion.
    let field: String?
    let value: Int64?
    /// The value that the user saw when they made the edit.
    let before: Int64?
    /// For a deletion: whether the item was one that the server has.
    var hadVersion = false
    var isOverruled = false
}

/// A decision about a row that saw this state of the server's row.
struct SeenDecision: Sendable {
    let id: String
    let fields: [String: Int64]
}

/// A device: a store that outlives its processes, and the context of the present process.
final class SimulatedClient: Sendable {
    static let table = SyncTableDefinition("T", columns: [SyncColumn("a", .integer), SyncColumn("b", .integer)])

    struct State {
        var context: SyncContext
        var store: SimulatedStore
        var transport: SimulatedTransport
        var edits: [Edit] = []
        var decisions: [SeenDecision] = []
        var running: [Int: Task<Void, Never>] = [:]
        var hasPurgedKeepingTokens = false
    }

    let name: String
    let base: MemoryStore
    let state: Mutex<State>
    private let makeState: @Sendable (SimulatedClient?) -> State

    init(name: String, base: MemoryStore, make: @escaping @Sendable (SimulatedClient?) -> State) {
        self.name = name
        self.base = base
        makeState = make
        state = Mutex(make(nil))
    }

    var context: SyncContext { state.withLock { $0.context } }
    var table: SyncTable { context.table("T") }

    /// Ends the process and starts another over the same store.
    func restart() {
        let next = makeState(self)
        state.withLock { state in
            state.store.kill()
            (state.context, state.store, state.transport) = (next.context, next.store, next.transport)
        }
    }

    /// The number of the latest edit.
    var lastEdit: Int { state.withLock { $0.edits.last?.number ?? 0 } }

    func record(_ edits: [Edit]) { state.withLock { $0.edits += edits } }

    /// Marks the edits of an item that a decision has seen.
    func overrule(_ id: String, upTo number: Int) {
        state.withLock { state in
            for index in state.edits.indices where state.edits[index].id == id && state.edits[index].number <= number {
                state.edits[index].isOverruled = true
            }
        }
    }

    func noteDecision(_ id: String, serverItem: Item?) {
        let fields = (serverItem?.fields ?? [:]).compactMapValues { value -> Int64? in
            if case .int(let number) = value { number } else { nil }
        }
        state.withLock { $0.decisions.append(SeenDecision(id: id, fields: fields)) }
    }
}
