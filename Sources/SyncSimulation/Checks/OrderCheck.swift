// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The state of an item that a push has left, and the state of the server's row that the push has replaced: numbers of the
/// server's changes.
struct PushedState: Sendable {
    let state: Int
    let replaced: Int
}

/// An item without a pending operation never returns to an earlier state of the server's row.
extension SimulatedSystem {
    /// - Parameter state: the number of the server's change that the item shows now.
    func checkOrder(of state: Int, _ row: RowKey, _ device: SimulatedDevice) {
        guard !server.traits.hasUnsteadyClock else { return }
        let newest = device.state.withLock { device in
            let newest = device.newestStates[row]
            device.newestStates[row] = max(newest ?? 0, state)
            return newest
        }
        if network.hasOldPages {
            let isNew = newest.map { state > $0 } ?? true
            return checkPushedState(state, isNew: isNew, row, device)
        }
        if let newest, state < newest {
            fail(
                .staleRow,
                "\(device.name): \(row) has the state of change \(state), and had that of change \(newest) before."
            )
        }
    }

    /// If a cache can answer, an item can return to an earlier state, but not from the state that a push has left to one that
    /// the push has replaced: the device knows their versions. If the server computes fields, a row that proves an update
    /// whose response was lost may have another client's change too, and the device knows no replaced version.
    ///
    /// - Parameter isNew: whether the device shows this state, or a later one, for the first time.
    private func checkPushedState(_ state: Int, isNew: Bool, _ row: RowKey, _ device: SimulatedDevice) {
        guard !server.traits.restartsVersions, !server.traits.hasHook else { return }
        let former = device.state.withLock { $0.pushedStates[row] }
        guard former?.state != state else { return }
        if let former, former.replaced == state {
            fail(
                .staleRow,
                "\(device.name): \(row) has the state of change \(state), which the device's own change "
                    + "\(former.state) has replaced.")
        }
        // A state that a pull has shown again, after a purge, is not known to have replaced another, nor is one that an
        // operation of another change has received.
        let isPushed = isNew && device.state.withLock { $0.rowsWithOperations.contains(row) }
        let replaced = isPushed ? server.stateReplaced(by: state, of: row, from: device.name) : nil
        device.state.withLock { device in
            device.pushedStates[row] = replaced.map { PushedState(state: state, replaced: $0) }
        }
    }
}

extension ModelServer {
    /// Returns the number of the change before a change of the row; `nil` unless the change is an update by this author, of
    /// a row with `updatedAt`. Without it, the row can seem to be inserted again.
    fileprivate func stateReplaced(by change: Int, of key: RowKey, from author: String) -> Int? {
        let journal = journal
        let mutation = journal[change]
        guard mutation.author == author, mutation.kind == .update, mutation.before?.isUndated == false
        else { return nil }
        return journal[..<change].lastIndex { $0.id == key.id && $0.table == key.table }
    }
}
