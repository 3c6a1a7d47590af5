// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes

extension RemoteCall {
    /// Returns the HTTP request for this call.
    ///
    /// - Parameter base: a request to the service's base URL, with the headers of all calls.
    /// - Throws: ``SyncError`` when a part of the call cannot be sent.
    func request(below base: HTTPRequest, dialect: WireDialect) throws(SyncError) -> HTTPTransportRequest {
        var request = HTTPTransportRequest(base)
        request.head.path = try path(below: base.path ?? "", dialect: dialect)
        var version: String?
        switch action {
        case .insert(let id, let fields):
            request.head.method = .post
            request.body = try body(id: id, fields, dialect)
        case .update(let id, let fields, let condition):
            request.head.method = dialect.updateMethod
            request.body = try body(id: id, fields, dialect)
            version = condition
        case .delete(_, let condition):
            request.head.method = .delete
            version = condition
        case .undelete(let id, let fields, let condition):
            request.head.method = dialect.updatesWholeRow ? dialect.updateMethod : .post
            request.body = dialect.updatesWholeRow ? try body(id: id, fields, dialect) : nil
            version = condition
        case .read, .query, .changes: break
        }
        // The base has none of these headers: they are appended without looking for them.
        if case .changes(_, let mark, _) = action {
            request.head.headerFields.append(Self.acceptEvents)
            if let mark { try HTTPField.validate(mark, for: .lastEventID) }
            request.head.headerFields[.lastEventID] = mark
        } else {
            request.head.headerFields.append(Self.acceptJSON)
        }
        if request.body != nil { request.head.headerFields.append(Self.contentOfJSON) }
        if let version { request.head.headerFields[.ifMatch] = try EntityTag.header(for: version) }
        request.head.headerFields[.zumoAPIVersion] = dialect.apiVersion
        request.head.headerFields[.zumoFeatures] = features.header
        return request
    }

    private static let acceptJSON = HTTPField(name: .accept, value: "application/json")
    private static let acceptEvents = HTTPField(name: .accept, value: "text/event-stream")
    private static let contentOfJSON = HTTPField(name: .contentType, value: "application/json")

    private func path(below base: String, dialect: WireDialect) throws(SyncError) -> String {
        guard !table.isEmpty else { throw SyncError(.missingTableName, "The name of the table is empty.") }
        guard table != ".", table != "..", table.unicodeScalars.allSatisfy({ $0.value >= 0x20 }) else {
            throw SyncError(.invalidRequest, "'\(table)' is not a valid name of a table.")
        }
        var path = base
        while path.utf8.last == UInt8(ascii: "/") { path.removeLast() }
        path += "/tables/" + table.percentEncoded
        if let itemID {
            try ItemID.validate(itemID, in: table)
            if case .insert = action {} else { path += "/" + itemID.percentEncoded }
        }
        if case .changes = action { path += "/changes" }
        let query = try queryParameters(dialect).map { parameter in
            // Servers expect the `$` of a system option unencoded.
            let isOption = parameter.name.hasPrefix("$")
            return (isOption ? parameter.name : parameter.name.percentEncoded) + "="
                + parameter.value.percentEncoded
        }
        if !query.isEmpty { path += "?" + query.joined(separator: "&") }
        return path
    }

    private func queryParameters(_ dialect: WireDialect) throws(SyncError) -> [QueryParameter] {
        var all: [QueryParameter] = []
        var includesDeletedRows = false
        switch action {
        case .query(let options, let includesDeleted):
            all = options
            includesDeletedRows = includesDeleted
        case .undelete: includesDeletedRows = dialect.updatesWholeRow
        case .changes(let others, _, let wait):
            all = [QueryParameter(name: "wait", value: String(wait))]
            if !others.isEmpty {
                all.append(QueryParameter(name: "tables", value: others.joined(separator: ",")))
            }
        default: break
        }
        if includesDeletedRows { all.append(QueryParameter(name: dialect.includeDeletedName, value: "true")) }
        if let parameter = dialect.systemPropertiesParameter { all.append(parameter) }
        for (name, value) in parameters.sorted(by: { $0.key.precedesInBytes($1.key) }) {
            try Self.validate(parameter: name)
            all.append(QueryParameter(name: name, value: value))
        }
        return all
    }

    /// Validates the name of an app's parameter.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidUserParameter``.
    package static func validate(parameter name: String) throws(SyncError) {
        let isReserved = ["__includedeleted", "__systemproperties"].contains(name.lowercased())
        guard !name.isEmpty, name.utf8.first != UInt8(ascii: "$"), !isReserved else {
            throw SyncError(
                .invalidUserParameter,
                "The parameter '\(name)' is reserved for the client: the name of an app's parameter is not empty, does "
                    + "not begin with '$', and is not __includeDeleted or __systemProperties.")
        }
    }

    private func body(
        id: String?, _ fields: [String: ItemValue], _ dialect: WireDialect
    ) throws(SyncError) -> Data {
        let reserved = dialect.systemNames
        for name in fields.keys where name == "id" || reserved.contains(name) {
            throw SyncError(
                .invalidItem, "'\(name)' is the id or a system property and cannot be sent as a field.")
        }
        for (name, value) in fields {
            guard value.isExpressibleInJSON(depth: ItemValue.depthInLists) else {
                throw SyncError(
                    .invalidItem,
                    "The field '\(name)' cannot be sent: it contains a number that is not finite, or its nesting is "
                        + "too deep.")
            }
        }
        var members = fields.map { (name: $0.key, value: $0.value) }
        if let id { members.append(("id", .text(id))) }
        members.sort { $0.name.precedesInBytes($1.name) }
        var writer = JSONWriter(style: .wire, after: ByteWriter(capacity: 512))
        writer.beginObject()
        for member in members {
            writer.write(name: member.name)
            writer.write(dialect.isTyped ? member.value.wholeNumberWithoutPoint : member.value)
        }
        writer.endObject()
        return writer.bytes.data
    }
}

extension ItemValue {
    /// A double that is a whole number, as the integer that reads as the same double; otherwise the value.
    fileprivate var wholeNumberWithoutPoint: ItemValue {
        guard case .double(let double) = self, let integer = Int64(exactly: double),
            integer.magnitude <= 1 << 53, integer != 0 || double.sign == .plus
        else { return self }
        return .int(integer)
    }

    /// The depth of a field in the JSON of a list: in a row, in the array, in the object with the count or the link. What is sent
    /// must be readable there.
    package static let depthInLists = 3

    /// Whether JSON can express the value at this depth, within the nesting that ``JSONParser`` accepts.
    package func isExpressibleInJSON(depth: Int) -> Bool {
        switch self {
        case .double(let double): double.isFinite
        case .array(let values):
            depth < JSONParser.maxDepth && values.allSatisfy { $0.isExpressibleInJSON(depth: depth + 1) }
        case .object(let fields):
            depth < JSONParser.maxDepth
                && fields.values.allSatisfy { $0.isExpressibleInJSON(depth: depth + 1) }
        default: true
        }
    }
}
