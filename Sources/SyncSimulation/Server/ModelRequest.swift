// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import SyncCore

/// A request, parsed once for the model server and for the checks.
struct ModelRequest: Sendable {
    /// The request as the client sent it.
    let original: HTTPTransportRequest
    /// The names in the path, without percent-encoding.
    let path: [String]
    /// The query parameters, without percent-encoding.
    let parameters: [String: String]
    /// The JSON of the body; `nil` without one.
    let body: ModelJSON?
    let phase: RequestPhase
    /// The row in the path, or in the body of an insert.
    let row: RowKey?
    /// Whether the request asks for deleted rows.
    let includesDeleted: Bool
    /// Whether a list has only some columns of its rows, as a reconciliation requests.
    var selectsColumns: Bool { parameters["$select"] != nil }

    init(_ request: HTTPTransportRequest) {
        original = request
        let bytes = Array((request.head.path ?? "").utf8)
        let end = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.endIndex
        let path = bytes[..<end].split(separator: UInt8(ascii: "/")).map(Self.decode)
        var parameters: [String: String] = [:]
        for pair in bytes[end...].dropFirst().split(separator: UInt8(ascii: "&")) {
            let equals = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            parameters[Self.decode(pair[..<equals])] = Self.decode(pair[equals...].dropFirst())
        }
        let body = request.body.flatMap(ModelJSON.init(data:))
        includesDeleted = parameters.keys.contains { $0.lowercased() == "__includedeleted" }
        (self.path, self.parameters, self.body) = (path, parameters, body)
        let hasID = path.count > 2
        phase =
            switch request.head.method {
            case .post: hasID ? .undelete : .insert
            case .patch: .update
            case .put: includesDeleted ? .undelete : .update
            case .delete: .delete
            default: hasID ? .read : .list
            }
        if hasID {
            row = RowKey(table: path[1], id: path[2])
        } else if path.count == 2, case .object(let fields)? = body, let id = fields["id"]?.text {
            row = RowKey(table: path[1], id: id)
        } else {
            row = nil
        }
    }

    private static func decode(_ text: ArraySlice<UInt8>) -> String {
        guard text.contains(UInt8(ascii: "%")) else { return String(decoding: text, as: UTF8.self) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count > 1,
                let high = digit(rest[rest.startIndex]), let low = digit(rest[rest.startIndex + 1])
            {
                bytes.append(high << 4 | low)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The value of a hexadecimal digit.
    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}

extension ModelRequest {
    /// Method, path, body and condition, for traces.
    var summary: String {
        let head = original.head
        let body = original.body.map { " " + String(decoding: $0, as: UTF8.self) } ?? ""
        let condition = head.headerFields[.ifMatch].map { " If-Match \($0)" } ?? ""
        return "\(head.method) \(head.path ?? "")\(body)\(condition)"
    }
}
