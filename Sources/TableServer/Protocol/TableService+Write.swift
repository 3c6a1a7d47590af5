// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

extension TableService {
    typealias Decision = RowStore.Decision<ServerResponse>

    func insert(_ rows: borrowing TableRows, _ body: WriteBody, _ stamp: Timestamp) throws -> Decision {
        let id = body.id ?? settings.makeID()
        if let existing = rows[id] {
            switch settings.insertConflictBody {
            case .echo: return unchanged(.value(body.item, status: 409))
            case .row: return unchanged(.row(existing, status: 409, settings: settings))
            }
        }
        var row = TableRow(
            id: id, fields: [:], createdAt: stamp, updatedAt: stamp, revision: 1, deleted: false,
            sequence: rows.lastSequence + 1)
        row.merge(body.fields, columns: rows.columns)
        return (.row(row, status: 201, settings: settings), [.put(row)])
    }

    func update(
        _ rows: borrowing TableRows, id: String, _ body: WriteBody, _ precondition: String?,
        _ stamp: Timestamp
    ) throws -> Decision {
        if let bodyID = body.id, !bodyID.hasSameBytes(as: id) {
            throw RequestError.badRequest("The id in the body differs from the id in the path.")
        }
        // The modelled server generates an SQL statement without columns, which fails.
        guard !body.fields.isEmpty else {
            throw RequestError(status: 500, message: "The body has no fields to update.")
        }
        guard let row = rows[id] else { throw RequestError.itemNotFound }
        if let precondition, precondition != row.version {
            return unchanged(.row(row, status: 412, settings: settings))
        }
        if let version = body.version, version != row.version {
            return unchanged(.row(row, status: 409, settings: settings))
        }
        let columns = rows.columns
        return put(row.changed(at: stamp) { $0.merge(body.fields, columns: columns) })
    }

    func delete(
        _ rows: borrowing TableRows, id: String, _ precondition: String?, _ stamp: Timestamp
    ) throws -> Decision {
        guard let row = rows[id] else { throw RequestError.itemNotFound }
        if let precondition, precondition != row.version || row.deleted {
            return unchanged(.row(row, status: 412, settings: settings))
        }
        guard !row.deleted else { return unchanged(.row(row, status: 409, settings: settings)) }
        guard rows.table.softDelete else { return (.row(row, settings: settings), [.remove(row.key)]) }
        return put(row.changed(at: stamp) { $0.deleted = true })
    }

    func undelete(
        _ rows: borrowing TableRows, id: String, _ precondition: String?, _ stamp: Timestamp
    ) throws -> Decision {
        guard let row = rows[id] else { throw RequestError.itemNotFound }
        if let precondition, precondition != row.version {
            return unchanged(.row(row, status: 412, settings: settings))
        }
        return put(row.changed(at: stamp) { $0.deleted = false }, status: 201)
    }

    private func put(_ row: TableRow, status: Int = 200) -> Decision {
        (.row(row, status: status, settings: settings), [.put(row)])
    }

    private func unchanged(_ response: ServerResponse) -> Decision { (response, []) }
}
