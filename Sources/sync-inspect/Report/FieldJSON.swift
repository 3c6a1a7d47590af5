// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

/// The value of a field in the JSON report, in the form that servers receive.
struct FieldJSON: Encodable {
    let value: ItemValue

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch value {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .int(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .text(let value): try container.encode(value)
        case .date(let value): try container.encode("\(value)")
        case .data(let value): try container.encode(value.base64EncodedString())
        case .array(let values): try container.encode(values.map(FieldJSON.init))
        case .object(let fields): try container.encode(fields.mapValues(FieldJSON.init))
        }
    }
}
