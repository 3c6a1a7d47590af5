// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import SyncCore

/// Lists and responses of the model server.
extension ModelServer {
    func list(_ table: String, _ request: ModelRequest, _ state: State) -> HTTPTransportResponse {
        let (parameters, dialect) = (request.parameters, state.traits.dialect)
        var filter: ModelFilter?
        if let text = parameters["$filter"] {
            filter = ModelFilter(text)
            guard filter != nil else { return failure(400, "The filter cannot be read: \(text)", state) }
            if state.traits.refusesNullFilters, text.contains("null") {
                return failure(400, "Filters by null are not supported.", state)
            }
        }
        let selected = parameters["$select"].map { Set($0.split(separator: ",").map(String.init)) }
        if !dialect.hasCreatedAt, selected?.contains("createdAt") == true {
            return failure(400, "There is no property 'createdAt'.", state)
        }
        var rows = (state.rows[table] ?? [:]).values.filter {
            !$0.isDeleted || request.includesDeleted
        }
        func matches(_ row: Row) -> Bool { filter?.matches { row.value(dialect.property($0)) } ?? true }
        rows = rows.filter(matches)
        let order = (parameters["$orderby"] ?? "id").split(separator: ",").map { $0.split(separator: " ") }
        rows.sort { left, right in
            for part in order {
                let name = dialect.property(String(part[0]))
                let (a, b) = (left.value(name), right.value(name))
                if a == b { continue }
                let isLess = precedes(a, b, state)
                return part.last == "desc" ? !isLess : isLess
            }
            return left.id.utf8.lexicographicallyPrecedes(right.id.utf8)
        }
        let top = min(Int(parameters["$top"] ?? "50") ?? 50, state.traits.pageCap)
        let skipped = Int(parameters["$skip"] ?? "0") ?? 0
        let end = rows.count
        rows = Array(rows.dropFirst(skipped).prefix(top))
        if state.traits.shortensPages, rows.count > 1 { rows.removeLast() }
        let next = skipped + rows.count < end ? skipped + rows.count : nil
        let list = rows.map { row in
            let fields = json(row, table, state)
            return ModelJSON.object(
                selected.map { names in
                    // The oldest dialect asks for the system properties apart.
                    fields.filter { names.contains($0.key) || $0.key.hasPrefix("__") }
                } ?? fields)
        }
        let isCounted = parameters["$inlinecount"] != nil || parameters["$count"] != nil
        let count = isCounted ? Int64(state.rows[table]?.count ?? 0) : nil
        return respond(200, dialect.list(list, count: count, next: next), [:], state)
    }

    private func precedes(_ a: ModelJSON, _ b: ModelJSON, _ state: State) -> Bool {
        switch (a, b) {
        case (.null, _): !state.traits.ordersNullsLast
        case (_, .null): state.traits.ordersNullsLast
        case (.int(let x), .int(let y)): x < y
        case (.double(let x), .double(let y)): x < y
        case (.text(let x), .text(let y)): x.utf8.lexicographicallyPrecedes(y.utf8)
        case (.bool(let x), .bool(let y)): !x && y
        default: false
        }
    }

    private func json(_ row: Row, _ table: String, _ state: State) -> [String: ModelJSON] {
        var fields = row.fields
        for column in columns[table] ?? [] where fields[column] == nil { fields[column] = .null }
        fields["id"] = .text(row.id)
        let updatedAt = row.updatedAt.text(digits: state.traits.shownDigits)
        let dialect = state.traits.dialect
        var system: [String: ModelJSON] = [
            "version": .text("\(row.version)"),
            "updatedAt": row.isUndated ? .null : .text(updatedAt), "deleted": .bool(row.isDeleted),
        ]
        if dialect.hasCreatedAt {
            system["createdAt"] = .text(row.createdAt.text(digits: state.traits.shownDigits))
        }
        for (name, value) in system { fields[dialect.name(ofSystemProperty: name)] = value }
        return fields
    }

    func answer(_ status: Int, _ row: Row, _ table: String, _ state: State) -> HTTPTransportResponse {
        respond(status, .object(json(row, table, state)), [.eTag: "\"\(row.version)\""], state)
    }

    func failure(_ status: Int, _ text: String, _ state: State) -> HTTPTransportResponse {
        respond(status, .object(["error": .text(text)]), [:], state)
    }

    func respond(
        _ status: Int, _ body: ModelJSON, _ fields: HTTPFields, _ state: State
    ) -> HTTPTransportResponse {
        var fields = fields
        fields[.contentType] = "application/json"
        if state.traits.sendsDate { fields[.date] = ModelTime(nanoseconds: now(state)).httpDate }
        return HTTPTransportResponse(status: .init(code: status), headerFields: fields, body: body.data)
    }
}

extension ModelServer.Row {
    fileprivate func value(_ name: String) -> ModelJSON {
        switch name {
        case "id": .text(id)
        case "updatedAt": isUndated ? .null : .int(updatedAt.nanoseconds)
        case "createdAt": .int(createdAt.nanoseconds)
        case "deleted": .bool(isDeleted)
        case "version": .text("\(version)")
        default: fields[name] ?? .null
        }
    }
}
