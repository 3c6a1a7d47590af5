// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import SyncCore
import Synchronization

/// What devices send, and when.
extension SimulatedSystem {
    /// A request has no column that is local-only now.
    func checkBody(of request: ModelRequest, from device: SimulatedDevice) {
        guard [.insert, .update].contains(request.phase), let key = request.row,
            case .object(let fields)? = request.body,
            let table = device.disk.store.catalog.tables.first(where: { $0.name == key.table })
        else { return }
        for name in fields.keys.sorted()
        where table.column(named: name)?.isLocalOnly == true {
            fail(.columns, "\(device.name) sends the local-only column \(name) of \(key).")
        }
    }

    /// The insert of a child is not sent while the insert of its parent is pending.
    func checkParents(
        _ operations: [TableOperation], _ snapshot: any StoreSnapshot, _ device: SimulatedDevice
    ) throws {
        let lastAttempts = device.state.withLock { state in
            let last = state.lastAttempts
            state.lastAttempts = Dictionary(uniqueKeysWithValues: operations.map { ($0.id, $0.lastAttempt) })
            return last
        }
        for operation in operations where operation.kind == .insert && operation.state == .attempted {
            guard operation.lastAttempt != lastAttempts[operation.id] ?? nil,
                let table = device.disk.store.catalog.tables.first(where: { $0.name == operation.table }),
                let parent = table.parents.first,
                let id = try snapshot.item(id: operation.itemID, in: table.name)?.fields["parent"]?.textValue
            else { continue }
            // A parent that is inserted in this commit may have been inserted after the mark.
            let key = RowKey(table: parent, id: id)
            let wasPending = device.state.withLock { $0.pending[key]?.kind == "insert" }
            let isPending = operations.first { $0.table == parent && $0.itemID == id }?.kind == .insert
            if wasPending, isPending {
                fail(
                    .order, "\(device.name) sends \(table.name)/\(operation.itemID) before its parent \(key)."
                )
            }
        }
    }
}
