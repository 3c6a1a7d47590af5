// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import SyncCore

/// Writes of devices.
extension ModelServer {
    func insert(_ write: Write, _ state: inout State) -> HTTPTransportResponse {
        guard case .object(var fields)? = write.body, let id = fields.removeValue(forKey: "id")?.text else {
            return failure(400, "The item has no id.", state)
        }
        let insert = Write(author: write.author, table: write.table, id: id, body: nil, match: nil)
        guard let row = state.rows[write.table]?[id] else {
            return answer(201, add(fields, insert, &state), write.table, state)
        }
        if state.traits.showsRowInConflict || state.traits.dialect.replacesRows {
            return answer(409, row, write.table, state)
        }
        return respond(409, write.body ?? .null, [.eTag: "W/\"echo\""], state)
    }

    func update(_ write: Write, _ state: inout State) -> HTTPTransportResponse {
        guard let row = state.rows[write.table]?[write.id] else {
            return failure(404, "The item does not exist.", state)
        }
        guard case .object(var fields)? = write.body else { return failure(400, "There is no item.", state) }
        fields["id"] = nil
        guard write.matches(row) else { return answer(412, row, write.table, state) }
        return answer(200, change(row, fields, .update, write, &state), write.table, state)
    }

    /// Replaces the whole row: fields that the request lacks become null. With deleted rows, it restores a tombstone.
    func replace(_ write: Write, _ state: inout State) -> HTTPTransportResponse {
        guard let row = state.rows[write.table]?[write.id] else {
            return failure(404, "The item does not exist.", state)
        }
        guard case .object(var fields)? = write.body, fields.removeValue(forKey: "id")?.text == row.id else {
            return failure(400, "The item has another id.", state)
        }
        if row.isDeleted, !write.includesDeleted { return gone(state) }
        guard write.matches(row) else { return answer(412, row, write.table, state) }
        for name in row.fields.keys where fields[name] == nil { fields[name] = .null }
        let kind: Mutation.Kind = row.isDeleted ? .undelete : .update
        return answer(200, change(row, fields, kind, write, &state), write.table, state)
    }

    /// The response to a request for a deleted row.
    func gone(_ state: State) -> HTTPTransportResponse {
        failure(state.traits.dialect.replacesRows ? 410 : 404, "The item does not exist.", state)
    }

    func delete(_ write: Write, _ state: inout State) -> HTTPTransportResponse {
        guard let row = state.rows[write.table]?[write.id] else {
            return failure(404, "The item does not exist.", state)
        }
        if row.isDeleted, state.traits.dialect.replacesRows { return gone(state) }
        guard write.matches(row), !row.isDeleted else {
            return answer(write.match == nil ? 409 : 412, row, write.table, state)
        }
        remove(row, write, &state)
        if state.traits.dialect.replacesRows {
            return HTTPTransportResponse(status: .noContent, body: Data())
        }
        return answer(200, state.rows[write.table]?[write.id] ?? row, write.table, state)
    }

    func undelete(_ write: Write, _ state: inout State) -> HTTPTransportResponse {
        guard let row = state.rows[write.table]?[write.id] else {
            return failure(404, "The item does not exist.", state)
        }
        guard write.matches(row) else { return answer(412, row, write.table, state) }
        guard row.isDeleted else { return answer(201, row, write.table, state) }
        return answer(201, change(row, [:], .undelete, write, &state), write.table, state)
    }
}
