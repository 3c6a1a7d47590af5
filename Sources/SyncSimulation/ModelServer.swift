// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import SyncCore
import Synchronization

/// How one model server behaves; drawn from the seed.
struct ModelServerTraits: Sendable {
    var softDelete = true
    var pageCap = 50
    /// How many fraction digits of `updatedAt` the server keeps and shows.
    var keptDigits = 3
    var shownDigits = 3
    /// Whether versions restart when a row is inserted again after a hard delete.
    var restartsVersions = true
    /// Whether a 409 to an insert carries the server's row instead of an echo of the request.
    var conflictShowsRow = false
    var filtersAfterPaging = false
    var sendsDate = true
    /// Whether the server writes a column by itself with every change.
    var hasHook = false
}

/// A tables server (v2) written from the protocol alone, with a journal of all that it has accepted.
final class ModelServer: Sendable {
    struct Row: Sendable, Hashable {
        let id: String
        var fields: [String: ModelJSON]
        var createdAt: ModelTime
        var updatedAt: ModelTime
        var version: Int
        var isDeleted = false
    }

    /// One accepted change.
    struct Mutation: Sendable {
        let client: String
        let kind: String
        let id: String
        let before: Row?
        let after: Row?
        let isConditional: Bool
    }

    private struct State {
        var rows: [String: Row] = [:]
        var lastVersions: [String: Int] = [:]
        var traits: ModelServerTraits
        var journal: [Mutation] = []
        var lastTime: Int64 = 0
        /// The row states (id, version text) that each client was sent.
        var shown: [String: Set<String>] = [:]
    }

    private let state: Mutex<State>
    private let clock: @Sendable () -> Int64

    init(traits: ModelServerTraits, clock: @escaping @Sendable () -> Int64) {
        state = Mutex(State(traits: traits))
        self.clock = clock
    }

    var rows: [String: Row] { state.withLock { $0.rows } }
    var journal: [Mutation] { state.withLock { $0.journal } }
    var traits: ModelServerTraits { state.withLock { $0.traits } }

    func change(_ body: @Sendable (inout ModelServerTraits) -> Void) { state.withLock { body(&$0.traits) } }

    /// Another user's change, made on the server itself.
    func write(_ id: String, _ fields: [String: ModelJSON], by client: String) {
        state.withLock { state in
            if let row = state.rows[id], !row.isDeleted {
                _ = update(row, fields, client, isConditional: true, &state)
            } else if state.rows[id] == nil {
                _ = insert(id, fields, client, &state)
            }
        }
    }

    func delete(_ id: String, by client: String) {
        state.withLock { state in
            if let row = state.rows[id], !row.isDeleted { remove(row, client, isConditional: true, &state) }
        }
    }

    func respond(to request: HTTPTransportRequest, from client: String) -> HTTPTransportResponse {
        state.withLock { state in
            let components = URLComponents(url: request.head.url ?? URL(fileURLWithPath: "/"), resolvingAgainstBaseURL: true)
            let path = (components?.percentEncodedPath ?? "").split(separator: "/").map {
                String($0).removingPercentEncoding ?? String($0)
            }
            guard path.count >= 2, path[0] == "tables" else { return self.html(404) }
            let match = request.head.headerFields[.ifMatch]
            let body = request.body.flatMap(ModelJSON.init(data:))
            let parameters = Dictionary(
                (components?.queryItems ?? []).map { ($0.name, $0.value ?? "") }, uniquingKeysWith: { a, _ in a })
            if path.count == 2 {
                switch request.head.method {
                case .get: return list(parameters, client, &state)
                case .post: return post(body, client, &state)
                default: return self.html(405)
                }
            }
            let id = path[2]
            switch request.head.method {
            case .get:
                guard let row = state.rows[id], !row.isDeleted else { return error(404, "The item does not exist") }
                return answer(200, row, client, &state)
            case .patch: return patch(id, body, match, client, &state)
            case .delete: return delete(id, match, client, &state)
            case .post: return undelete(id, match, client, &state)
            default: return self.html(405)
            }
        }
    }

    // MARK: Writes

    private func tick(_ state: inout State) -> ModelTime {
        let unit: Int64 = state.traits.keptDigits == 3 ? 1_000_000 : 100
        let now = 1_700_000_000_000_000_000 + clock()
        state.lastTime = max(state.lastTime, now / unit * unit)
        return ModelTime(nanoseconds: state.lastTime)
    }

    private func insert(_ id: String, _ fields: [String: ModelJSON], _ client: String, _ state: inout State) -> Row {
        let time = tick(&state)
        let version = state.traits.restartsVersions ? 1 : (state.lastVersions[id] ?? 0) + 1
        var row = Row(id: id, fields: fields, createdAt: time, updatedAt: time, version: version)
        if state.traits.hasHook { row.fields["stamp"] = .int(Int64(state.journal.count)) }
        state.rows[id] = row
        state.lastVersions[id] = version
        state.journal.append(.init(client: client, kind: "insert", id: id, before: nil, after: row, isConditional: true))
        return row
    }

    private func update(
        _ row: Row, _ fields: [String: ModelJSON], _ client: String, isConditional: Bool, undeleting: Bool = false,
        _ state: inout State
    ) -> Row {
        var next = row
        next.fields.merge(fields) { _, new in new }
        if state.traits.hasHook { next.fields["stamp"] = .int(Int64(state.journal.count)) }
        if undeleting { next.isDeleted = false }
        next.version += 1
        next.updatedAt = tick(&state)
        state.rows[row.id] = next
        state.lastVersions[row.id] = next.version
        state.journal.append(
            .init(
                client: client, kind: undeleting ? "undelete" : "update", id: row.id, before: row, after: next,
                isConditional: isConditional))
        return next
    }

    private func remove(_ row: Row, _ client: String, isConditional: Bool, _ state: inout State) {
        var after: Row?
        if state.traits.softDelete {
            var next = row
            next.isDeleted = true
            next.version += 1
            next.updatedAt = tick(&state)
            state.rows[row.id] = next
            after = next
        } else {
            state.rows[row.id] = nil
        }
        state.journal.append(
            .init(client: client, kind: "delete", id: row.id, before: row, after: after, isConditional: isConditional))
    }

    private func post(_ body: ModelJSON?, _ client: String, _ state: inout State) -> HTTPTransportResponse {
        guard case .object(var fields)? = body, let id = fields.removeValue(forKey: "id")?.text else {
            return error(400, "The item has no id")
        }
        if let row = state.rows[id] {
            if state.traits.conflictShowsRow { return answer(409, row, client, &state) }
            fields["id"] = .text(id)
            return respond(409, .object(fields), [.eTag: "W/\"echo\""])
        }
        return answer(201, insert(id, fields, client, &state), client, &state)
    }

    private func patch(
        _ id: String, _ body: ModelJSON?, _ match: String?, _ client: String, _ state: inout State
    ) -> HTTPTransportResponse {
        guard let row = state.rows[id] else { return error(404, "The item does not exist") }
        guard case .object(var fields)? = body else { return error(400, "No item") }
        fields["id"] = nil
        if let match, match != "\"\(row.version)\"" { return answer(412, row, client, &state) }
        return answer(200, update(row, fields, client, isConditional: match != nil, &state), client, &state)
    }

    private func delete(_ id: String, _ match: String?, _ client: String, _ state: inout State) -> HTTPTransportResponse {
        guard let row = state.rows[id] else { return error(404, "The item does not exist") }
        if let match, match != "\"\(row.version)\"" { return answer(412, row, client, &state) }
        if row.isDeleted { return match == nil ? answer(409, row, client, &state) : answer(412, row, client, &state) }
        remove(row, client, isConditional: match != nil, &state)
        return answer(200, state.rows[id] ?? row, client, &state)
    }

    private func undelete(_ id: String, _ match: String?, _ client: String, _ state: inout State)
        -> HTTPTransportResponse
    {
        guard let row = state.rows[id] else { return error(404, "The item does not exist") }
        if let match, match != "\"\(row.version)\"" { return answer(412, row, client, &state) }
        guard row.isDeleted else { return answer(201, row, client, &state) }
        let next = update(row, [:], client, isConditional: match != nil, undeleting: true, &state)
        return answer(201, next, client, &state)
    }

    // MARK: Reads

    private func list(_ parameters: [String: String], _ client: String, _ state: inout State) -> HTTPTransportResponse {
        let filter: ModelFilter?
        if let text = parameters["$filter"] {
            guard let parsed = ModelFilter(text) else { return error(400, "The filter cannot be read: \(text)") }
            filter = parsed
        } else {
            filter = nil
        }
        var rows = state.rows.values.filter { !$0.isDeleted || parameters["__includeDeleted"] != nil }
        func matches(_ row: Row) -> Bool { filter?.matches { self.value($0, row) } ?? true }
        if !state.traits.filtersAfterPaging { rows = rows.filter(matches) }
        let order = (parameters["$orderby"] ?? "id").split(separator: ",").map { $0.split(separator: " ") }
        rows.sort { left, right in
            for part in order {
                let (a, b) = (value(String(part[0]), left), value(String(part[0]), right))
                if a == b { continue }
                let isLess = less(a, b)
                return part.last == "desc" ? !isLess : isLess
            }
            return left.id.utf8.lexicographicallyPrecedes(right.id.utf8)
        }
        rows = Array(rows.dropFirst(Int(parameters["$skip"] ?? "0") ?? 0))
        rows = Array(rows.prefix(min(Int(parameters["$top"] ?? "50") ?? 50, state.traits.pageCap)))
        if state.traits.filtersAfterPaging { rows = rows.filter(matches) }
        let selected = parameters["$select"].map { Set($0.split(separator: ",").map(String.init)) }
        for row in rows { state.shown[client, default: []].insert("\(row.id)/\(row.version)") }
        let list = rows.map { row -> ModelJSON in
            guard case .object(let fields) = json(row, state) else { return .null }
            return .object(selected.map { names in fields.filter { names.contains($0.key) } } ?? fields)
        }
        let body: ModelJSON =
            parameters["$inlinecount"] == nil
            ? .array(list) : .object(["results": .array(list), "count": .int(Int64(state.rows.count))])
        return respond(200, body)
    }

    private func less(_ a: ModelJSON, _ b: ModelJSON) -> Bool {
        switch (a, b) {
        case (.null, _): true
        case (_, .null): false
        case (.int(let x), .int(let y)): x < y
        case (.text(let x), .text(let y)): x.utf8.lexicographicallyPrecedes(y.utf8)
        case (.bool(let x), .bool(let y)): !x && y
        default: false
        }
    }

    private func value(_ name: String, _ row: Row) -> ModelJSON {
        switch name {
        case "id": .text(row.id)
        case "updatedAt": .int(row.updatedAt.nanoseconds)
        case "createdAt": .int(row.createdAt.nanoseconds)
        case "deleted": .bool(row.isDeleted)
        case "version": .text("\(row.version)")
        default: row.fields[name] ?? .null
        }
    }

    private func json(_ row: Row, _ state: State) -> ModelJSON {
        var fields = row.fields
        for column in ["a", "b"] where fields[column] == nil { fields[column] = .null }
        fields["id"] = .text(row.id)
        fields["version"] = .text("\(row.version)")
        fields["createdAt"] = .text(row.createdAt.text(digits: state.traits.shownDigits))
        fields["updatedAt"] = .text(row.updatedAt.text(digits: state.traits.shownDigits))
        fields["deleted"] = .bool(row.isDeleted)
        return .object(fields)
    }

    private func answer(_ status: Int, _ row: Row, _ client: String, _ state: inout State) -> HTTPTransportResponse {
        state.shown[client, default: []].insert("\(row.id)/\(row.version)")
        return respond(status, json(row, state), [.eTag: "\"\(row.version)\""])
    }

    private func error(_ status: Int, _ text: String) -> HTTPTransportResponse {
        respond(status, .object(["error": .text(text)]))
    }

    private func respond(_ status: Int, _ body: ModelJSON, _ fields: HTTPFields = [:]) -> HTTPTransportResponse {
        var fields = fields
        fields[.contentType] = "application/json"
        if traitsSendDate { fields[.date] = httpDate() }
        return HTTPTransportResponse(status: .init(code: status), headerFields: fields, body: body.data)
    }

    private func html(_ status: Int) -> HTTPTransportResponse {
        HTTPTransportResponse(
            status: .init(code: status), headerFields: [.contentType: "text/html"],
            body: Data("<html>no</html>".utf8))
    }

    private var traitsSendDate: Bool { true }

    private func httpDate() -> String {
        let seconds = 1_700_000_000 + clock() / 1_000_000_000
        let time = ModelTime(nanoseconds: seconds * 1_000_000_000).text(digits: 0)
        let parts = time.split { "-T:.Z".contains($0) }.map(String.init)
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
        let day = days[Int(seconds / 86400 % 7)]
        return "\(day), \(parts[2]) \(months[(Int(parts[1]) ?? 1) - 1]) \(parts[0]) \(parts[3]):\(parts[4]):\(parts[5]) GMT"
    }
}
