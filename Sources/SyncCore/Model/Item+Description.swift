// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension ItemValue: CustomStringConvertible {
    /// The value for people, for example in a debugger: text in quotes, the size of binary data.
    public var description: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .int(let value): "\(value)"
        case .double(let value): "\(value)"
        case .text(let value): value.debugDescription
        case .date(let value): value.description
        case .data(let value): "\(value.count) bytes"
        case .array(let values): "[" + values.map(\.description).joined(separator: ", ") + "]"
        case .object(let fields): "{" + fields.described + "}"
        }
    }
}

extension Item: CustomStringConvertible {
    /// The item for people, for example in a debugger: its id, its fields in byte order of their names, and what the server
    /// has set.
    public var description: String {
        let parts = [
            "Item \(id.debugDescription) {\(fields.described)}", system.version.map { "version \($0)" },
            system.updatedAt.map { "updated \($0)" }, system.deleted ? "deleted" : nil,
        ]
        return parts.compactMap(\.self).joined(separator: ", ")
    }
}

extension [String: ItemValue] {
    fileprivate var described: String {
        sorted { $0.key.precedesInBytes($1.key) }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
    }
}
