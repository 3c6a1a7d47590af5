// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

// Stored objects are read member by member, in any order, without intermediate values. Unknown names are skipped.

extension JSONParser {
    /// Calls the body for each member of a stored object.
    ///
    /// - Parameter what: the name of the object, for the error message.
    /// - Throws: ``StoreError`` with code ``StoreError/Code/corrupt``.
    static func readStored(
        _ json: some ContiguousBytes, of what: @autoclosure () -> String,
        _ body: (_ name: String, inout JSONParser) throws(JSONError) -> Void
    ) throws(StoreError) {
        do {
            try read(json, style: .tagged) { parser throws(JSONError) in try parser.parseDocument(body) }
        } catch {
            throw StoreError(.corrupt, "The stored \(what()) cannot be read.", cause: error)
        }
    }

    mutating func text() throws(JSONError) -> String? { try parseValue().textValue }

    mutating func int() throws(JSONError) -> Int? { try parseValue().intValue.map(Int.init) }

    /// Reads one of ``TableOperation/counters``.
    mutating func counter() throws(JSONError) -> Int {
        let counter = try int() ?? 0
        guard TableOperation.counters.contains(counter) else { throw error("a counter is out of range") }
        return counter
    }

    mutating func bool() throws(JSONError) -> Bool { try parseValue().boolValue ?? false }

    mutating func date() throws(JSONError) -> Timestamp? { try parseValue().dateValue }

    mutating func raw<Value: RawRepresentable<String>>() throws(JSONError) -> Value? {
        try text().flatMap(Value.init)
    }

    mutating func skip() throws(JSONError) { _ = try parseValue() }

    /// Reads a stored item.
    mutating func item() throws(JSONError) -> Item {
        var reader = StoredItemReader()
        try parseMembers { name, parser throws(JSONError) in try reader.read(name, &parser) }
        guard let item = reader.item else { throw error("a stored item is incomplete") }
        return item
    }

    mutating func sentSnapshot() throws(JSONError) -> TableOperation.SentSnapshot {
        var kind: TableOperation.Kind?
        var fields: [String: ItemValue]?
        var version: String?
        try parseMembers { name, parser throws(JSONError) in
            switch name {
            case "fields": fields = try parser.fields()
            case "kind": kind = try parser.raw()
            case "version": version = try parser.text()
            default: try parser.skip()
            }
        }
        guard let kind, let fields else { throw error("a stored snapshot is incomplete") }
        return TableOperation.SentSnapshot(kind: kind, fields: fields, version: version)
    }

    fileprivate mutating func fields() throws(JSONError) -> [String: ItemValue]? {
        guard case .object(let fields) = try parseValue() else { return nil }
        return fields
    }
}

/// Collects the members of a stored item.
struct StoredItemReader {
    private var id: String?
    private var fields: [String: ItemValue]?
    private var system = SystemProperties()

    /// The item, if it is complete.
    var item: Item? {
        guard let id, let fields else { return nil }
        return Item(id: id, fields: fields, system: system)
    }

    mutating func read(_ name: String, _ parser: inout JSONParser) throws(JSONError) {
        switch name {
        case "createdAt": system.createdAt = try parser.date()
        case "deleted": system.deleted = try parser.bool()
        case "fields": fields = try parser.fields()
        case "id": id = try parser.text()
        case "superseded":
            guard case .array(let versions) = try parser.parseValue() else { return }
            system.supersededVersions = versions.compactMap(\.textValue)
        case "undeclared": system.undeclared = try parser.fields() ?? [:]
        case "updatedAt": system.updatedAt = try parser.date()
        case "version": system.version = try parser.text()
        default: try parser.skip()
        }
    }
}
