// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import SyncCore
import Synchronization

/// What devices send, and when.
extension SimulatedSystem {
    /// A request has no column that is local-only now, and selects no property that the server does not have.
    func checkColumns(of request: ModelRequest, from device: SimulatedDevice) {
        if !server.traits.dialect.hasCreatedAt,
            request.parameters["$select"]?.split(separator: ",").contains("createdAt") == true
        {
            fail(.columns, "\(device.name) selects 'createdAt', which the server does not have.")
        }
        guard [.insert, .update].contains(request.phase), let key = request.row,
            case .object(let fields)? = request.body,
            let table = device.disk.store.catalog.tables.first(where: { $0.name == key.table })
        else { return }
        for name in fields.keys.sorted() where table.column(named: name)?.isLocalOnly == true {
            // An update of the whole row keeps what others have stored in the column, or the user before it was local-only.
            let value = fields[name] ?? .null
            let isEdited = device.history.snapshot.edits.contains {
                $0.key == key && $0.column == name
                    && $0.number == EditValue.number(value, table.column(named: name)?.type ?? .text)
            }
            let wasStored = server.lastState(of: key, where: { $0.fields[name] ?? .null == value }) != nil
            if server.traits.dialect.replacesRows, request.phase == .update, isEdited || wasStored {
                continue
            }
            fail(.columns, "\(device.name) sends the local-only column \(name) of \(key).")
        }
    }

    /// An update of a row that the server did not have follows a request that reads the row: another user may have inserted
    /// it again with the same version.
    func checkMissingRow(of request: ModelRequest, from device: SimulatedDevice) {
        guard let key = request.row else { return }
        let act = CurrentAct.number
        if request.phase == .read { device.state.withLock { $0.lastReads[key] = act } }
        guard request.phase == .update, device.state.withLock({ $0.lastReads[key] != act }) else { return }
        let errors = try? device.disk.store.read { try $0.operationErrors(in: key.table) }
        if errors?.contains(where: { $0.itemID == key.id && $0.code == .itemNotOnServer }) == true {
            fail(.condition, "\(device.name) updates \(key), which was missing, without reading it before.")
        }
    }

    /// A commit does not remove an operation whose request is running. The user can discard one whose row the delegate is
    /// inserting by a request of its own.
    func checkRunningRequests(_ operations: [TableOperation], _ device: SimulatedDevice) {
        for process in device.processes where !process.store.hasEnded {
            let inserted = device.state.withLock(\.rowsInsertedByDelegate)
            for row in process.transport.runningWrites where !inserted.contains(row) {
                guard let id = device.state.withLock({ $0.pending[row]?.firstID }),
                    !operations.contains(where: { $0.id == id })
                else { continue }
                fail(.queue, "\(device.name): operation \(id) of \(row) is removed while its request runs.")
            }
        }
    }
}
