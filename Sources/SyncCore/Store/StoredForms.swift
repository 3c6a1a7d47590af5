// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension Item {
    /// The whole item as one value, for stores that keep rows as JSON: see ``ItemValue/storedJSON``.
    public var storedValue: ItemValue {
        var object: [String: ItemValue] = ["id": .text(id), "fields": .object(fields)]
        object["createdAt"] = system.createdAt.map(ItemValue.date)
        object["updatedAt"] = system.updatedAt.map(ItemValue.date)
        object["version"] = system.version.map(ItemValue.text)
        if system.deleted { object["deleted"] = true }
        if !system.supersededVersions.isEmpty {
            object["superseded"] = .array(system.supersededVersions.map(ItemValue.text))
        }
        return .object(object)
    }

    /// Reads what ``storedValue`` wrote.
    ///
    /// - Throws: ``StoreError`` with code ``StoreError/Code/corrupt`` when it was not written by that.
    public init(storedValue: ItemValue) throws(StoreError) {
        let stored = try StoredObject(storedValue, what: "item")
        self.init(
            id: try stored.text("id"), fields: try stored.object("fields"),
            system: SystemProperties(
                createdAt: stored["createdAt"]?.dateValue, updatedAt: stored["updatedAt"]?.dateValue,
                version: stored["version"]?.textValue, deleted: stored["deleted"]?.boolValue ?? false,
                supersededVersions: stored.texts("superseded")))
    }
}

extension TableOperation {
    /// Everything but ``id``, ``table`` and ``itemID`` as JSON text: the `properties` of `MS_TableOperations`.
    public var storedProperties: Data {
        var writer = JSONWriter(style: .tagged)
        writer.beginObject()
        if isAdopted { writer.write("adopted", true) }
        if attempts != 0 { writer.write("attempts", .int(Int64(attempts))) }
        if let base { writer.write("base", base) }
        if let changedAt { writer.write("changedAt", .date(changedAt)) }
        if let deletedItem { writer.write("deletedItem", deletedItem) }
        writer.write("kind", .text(kind.rawValue))
        if let lastAttempt { writer.write("lastAttempt", .date(lastAttempt)) }
        if let lastStatus { writer.write("lastStatus", .int(Int64(lastStatus))) }
        if replaces { writer.write("replaces", true) }
        if revision != 0 { writer.write("revision", .int(Int64(revision))) }
        if let sent { writer.write("sent", sent) }
        if let serverItem { writer.write("serverItem", serverItem) }
        writer.write("state", .text(state.rawValue))
        if let version { writer.write("version", .text(version)) }
        writer.endObject()
        return Data(writer.bytes)
    }

    /// Puts an operation together again from ``storedProperties`` and the columns beside them.
    ///
    /// - Throws: ``StoreError`` with code ``StoreError/Code/corrupt`` when they were not written by that.
    public init(
        id: Int64, table: String, itemID: String, storedProperties: some ContiguousBytes
    ) throws(StoreError) {
        let stored = try StoredObject(json: storedProperties, what: "operation \(id)")
        self.init(
            id: id, table: table, itemID: itemID, kind: try stored.raw("kind"),
            state: try stored.raw("state"),
            revision: Int(stored["revision"]?.intValue ?? 0),
            attempts: Int(stored["attempts"]?.intValue ?? 0), lastAttempt: stored["lastAttempt"]?.dateValue,
            lastStatus: stored["lastStatus"]?.intValue.map(Int.init), base: try stored.item("base"),
            version: stored["version"]?.textValue, serverItem: try stored.item("serverItem"),
            deletedItem: try stored.item("deletedItem"),
            sent: try stored["sent"].map { value throws(StoreError) in try SentSnapshot(storedValue: value) },
            replaces: stored["replaces"]?.boolValue ?? false,
            isAdopted: stored["adopted"]?.boolValue ?? false, changedAt: stored["changedAt"]?.dateValue)
    }
}

extension TableOperation.SentSnapshot {
    fileprivate init(storedValue: ItemValue) throws(StoreError) {
        let stored = try StoredObject(storedValue, what: "sent snapshot")
        self.init(
            kind: try stored.raw("kind"), fields: try stored.object("fields"),
            version: stored["version"]?.textValue)
    }
}

extension TableOperationError {
    /// Everything but ``operationID`` as JSON text: the `properties` of `MS_TableOperationErrors`.
    public var storedProperties: Data {
        var writer = JSONWriter(style: .tagged)
        writer.beginObject()
        writer.write("code", .int(Int64(code.rawValue)))
        if let item { writer.write("item", item) }
        writer.write("itemId", .text(itemID))
        writer.write("kind", .text(kind.rawValue))
        writer.write("message", .text(message))
        writer.write("revision", .int(Int64(revision)))
        if let serverItem { writer.write("serverItem", serverItem) }
        if let status { writer.write("status", .int(Int64(status))) }
        writer.write("table", .text(table))
        writer.endObject()
        return Data(writer.bytes)
    }

    /// Puts an error together again from ``storedProperties``.
    ///
    /// - Throws: ``StoreError`` with code ``StoreError/Code/corrupt`` when they were not written by that.
    public init(operationID: Int64, storedProperties: some ContiguousBytes) throws(StoreError) {
        let stored = try StoredObject(json: storedProperties, what: "error of operation \(operationID)")
        self.init(
            operationID: operationID, table: try stored.text("table"), itemID: try stored.text("itemId"),
            kind: try stored.raw("kind"), item: try stored.item("item"),
            serverItem: try stored.item("serverItem"),
            status: stored["status"]?.intValue.map(Int.init),
            code: SyncError.Code(rawValue: Int(stored["code"]?.intValue ?? 0)),
            message: try stored.text("message"), revision: Int(stored["revision"]?.intValue ?? 0))
    }
}

/// Reads the fields of a stored object, and says what it belongs to when one is missing.
private struct StoredObject {
    private let fields: [String: ItemValue]
    private let what: String

    init(_ value: ItemValue, what: String) throws(StoreError) {
        guard case .object(let fields) = value else {
            throw StoreError(.corrupt, "The stored \(what) is not an object.")
        }
        self.fields = fields
        self.what = what
    }

    init(json: some ContiguousBytes, what: String) throws(StoreError) {
        do {
            self = try StoredObject(ItemValue(storedJSON: json), what: what)
        } catch let error as StoreError {
            throw error
        } catch {
            throw StoreError(.corrupt, "The stored \(what) cannot be read.", cause: error)
        }
    }

    subscript(name: String) -> ItemValue? { fields[name] }

    func text(_ name: String) throws(StoreError) -> String {
        guard let text = fields[name]?.textValue else { throw missing(name) }
        return text
    }

    func raw<Value: RawRepresentable<String>>(_ name: String) throws(StoreError) -> Value {
        guard let value = Value(rawValue: try text(name)) else { throw missing(name) }
        return value
    }

    func object(_ name: String) throws(StoreError) -> [String: ItemValue] {
        guard case .object(let object) = fields[name] else { throw missing(name) }
        return object
    }

    func texts(_ name: String) -> [String] {
        guard case .array(let values) = fields[name] else { return [] }
        return values.compactMap(\.textValue)
    }

    func item(_ name: String) throws(StoreError) -> Item? {
        try fields[name].map { value throws(StoreError) in try Item(storedValue: value) }
    }

    private func missing(_ name: String) -> StoreError {
        StoreError(.corrupt, "The stored \(what) lacks '\(name)'.")
    }
}
