// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A JSON value of the model server, read and written by Foundation so that the framework's own coding is not trusted.
enum ModelJSON: Sendable, Hashable {
    case null
    case bool(Bool)
    case int(Int64)
    case double(Double)
    case text(String)
    case array([ModelJSON])
    case object([String: ModelJSON])

    init(_ any: Any) {
        switch any {
        case is NSNull: self = .null
        case let number as NSNumber:
            let type = String(cString: number.objCType)
            if type == "c" || type == "B" {
                self = .bool(number.boolValue)
            } else if type == "d" || type == "f" {
                self = .double(number.doubleValue)
            } else {
                self = .int(number.int64Value)
            }
        case let text as String: self = .text(text)
        case let values as [Any]: self = .array(values.map(ModelJSON.init))
        case let fields as [String: Any]: self = .object(fields.mapValues(ModelJSON.init))
        default: self = .null
        }
    }

    init?(data: Data) {
        guard let any = try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed) else { return nil }
        self.init(any)
    }

    var any: Any {
        switch self {
        case .null: NSNull()
        case .bool(let value): value
        case .int(let value): value
        case .double(let value): value
        case .text(let value): value
        case .array(let values): values.map(\.any)
        case .object(let fields): fields.mapValues(\.any)
        }
    }

    var data: Data {
        (try? JSONSerialization.data(withJSONObject: any, options: [.fragmentsAllowed, .sortedKeys])) ?? Data()
    }

    var text: String? { if case .text(let text) = self { text } else { nil } }
}
