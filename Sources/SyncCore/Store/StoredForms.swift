// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension Item {
    /// The whole item as JSON text, for stores that keep rows as JSON: see ``ItemValue/storedJSON``.
    @_spi(StoreAuthor) public var storedJSON: Data { JSONWriter.stored { $0.writeMembers(of: self) } }

    /// Reads an item from its ``storedJSON``.
    ///
    /// - Throws: ``StoreError`` with code ``StoreError/Code/corrupt`` when the text is not a stored item.
    @_spi(StoreAuthor) public init(storedJSON: some ContiguousBytes) throws(StoreError) {
        var reader = StoredItemReader()
        try JSONParser.readStored(storedJSON, of: "item") { name, parser throws(JSONError) in
            try reader.read(name, &parser)
        }
        guard let item = reader.item else { throw .incomplete("item") }
        self = item
    }
}

extension TableOperation {
    /// All properties except ``id``, ``table`` and ``itemID`` as JSON text: the `properties` of `MS_TableOperations`.
    @_spi(StoreAuthor) public var storedProperties: Data {
        JSONWriter.stored { writeProperties(&$0, includingRows: true) }
    }

    /// Appends ``storedProperties`` without the rows: see ``appendRows(to:)``.
    package func appendStoredPropertiesWithoutRows(to bytes: inout ByteWriter) {
        JSONWriter.appendStored(to: &bytes) { writeProperties(&$0, includingRows: false) }
    }

    private func writeProperties(_ writer: inout JSONWriter, includingRows: Bool) {
        if isAdopted { writer.write("adopted", true) }
        if refusals != 0 { writer.write("attempts", .int(Int64(refusals))) }
        if includingRows, let base { writer.write("base", base) }
        if let changedAt { writer.write("changedAt", .date(changedAt)) }
        if includingRows, let deletedItem { writer.write("deletedItem", deletedItem) }
        writer.write("kind", .text(kind.rawValue))
        if let lastAttempt { writer.write("lastAttempt", .date(lastAttempt)) }
        if let lastStatus { writer.write("lastStatus", .int(Int64(lastStatus))) }
        if isPerformed { writer.write("performed", true) }
        if replaces { writer.write("replaces", true) }
        if revision != 0 { writer.write("revision", .int(Int64(revision))) }
        if includingRows, let sent { writer.write("sent", sent) }
        if includingRows, let serverItem { writer.write("serverItem", serverItem) }
        writer.write("state", .text(state.rawValue))
        if let version { writer.write("version", .text(version)) }
    }

    /// Reads an operation from its ``storedProperties`` and the other columns.
    ///
    /// - Throws: ``StoreError`` with code ``StoreError/Code/corrupt`` when the text is not valid.
    @_spi(StoreAuthor) public init(
        id: Int64, table: String, itemID: String, storedProperties: some ContiguousBytes
    ) throws(StoreError) {
        var operation = TableOperation(id: id, table: table, itemID: itemID, kind: .update)
        var (kind, state) = (Kind?.none, State?.none)
        try JSONParser.readStored(storedProperties, of: "operation \(id)") { name, parser throws(JSONError) in
            switch name {
            case "adopted": operation.isAdopted = try parser.bool()
            case "attempts": operation.refusals = try parser.counter()
            case "base": operation.base = try parser.item()
            case "changedAt": operation.changedAt = try parser.date()
            case "deletedItem": operation.deletedItem = try parser.item()
            case "kind": kind = try parser.raw()
            case "lastAttempt": operation.lastAttempt = try parser.date()
            case "lastStatus": operation.lastStatus = try parser.int()
            case "performed": operation.isPerformed = try parser.bool()
            case "replaces": operation.replaces = try parser.bool()
            case "revision": operation.revision = try parser.counter()
            case "sent": operation.sent = try parser.sentSnapshot()
            case "serverItem": operation.serverItem = try parser.item()
            case "state": state = try parser.raw()
            case "version": operation.version = try parser.text()
            default: try parser.skip()
            }
        }
        guard let kind, let state else { throw .incomplete("operation \(id)") }
        operation.kind = kind
        operation.state = state
        self = operation
    }
}

extension TableOperationError {
    /// All properties except ``operationID`` as JSON text: the `properties` of `MS_TableOperationErrors`.
    @_spi(StoreAuthor) public var storedProperties: Data {
        JSONWriter.stored { writer in
            writer.write("code", .int(Int64(code.rawValue)))
            if let heldBy { writer.write("heldBy", .int(heldBy)) }
            if let item { writer.write("item", item) }
            writer.write("itemId", .text(itemID))
            writer.write("kind", .text(kind.rawValue))
            writer.write("message", .text(message))
            writer.write("revision", .int(Int64(revision)))
            if let serverItem { writer.write("serverItem", serverItem) }
            if let status { writer.write("status", .int(Int64(status))) }
            writer.write("table", .text(table))
        }
    }

    /// Reads an error from its ``storedProperties``.
    ///
    /// - Throws: ``StoreError`` with code ``StoreError/Code/corrupt`` when the text is not valid.
    @_spi(StoreAuthor) public init(operationID: Int64, storedProperties: some ContiguousBytes)
        throws(StoreError)
    {
        var (table, itemID, message) = (String?.none, String?.none, String?.none)
        var kind: TableOperation.Kind?
        var (item, serverItem) = (Item?.none, Item?.none)
        var (status, code, revision) = (Int?.none, 0, 0)
        var heldBy: Int64?
        let what = "error of operation \(operationID)"
        try JSONParser.readStored(storedProperties, of: what) { name, parser throws(JSONError) in
            switch name {
            case "code": code = try parser.int() ?? 0
            case "heldBy": heldBy = try parser.parseValue().intValue
            case "item": item = try parser.item()
            case "itemId": itemID = try parser.text()
            case "kind": kind = try parser.raw()
            case "message": message = try parser.text()
            case "revision": revision = try parser.int() ?? 0
            case "serverItem": serverItem = try parser.item()
            case "status": status = try parser.int()
            case "table": table = try parser.text()
            default: try parser.skip()
            }
        }
        guard let table, let itemID, let message, let kind else { throw .incomplete(what) }
        self.init(
            operationID: operationID, table: table, itemID: itemID, kind: kind, item: item,
            serverItem: serverItem, status: status, code: SyncError.Code(stored: code), message: message,
            revision: revision, heldBy: heldBy)
    }
}

extension SyncError.Code {
    /// Reads a number of the error log. Version 0.1 had other numbers for three codes.
    fileprivate init(stored number: Int) {
        switch number {
        case -1102: self = .invalidItem
        case -1104: self = .invalidItemID
        case -1108: self = .invalidRequest
        default: self.init(rawValue: number)
        }
    }
}

extension StoreError {
    fileprivate static func incomplete(_ what: String) -> StoreError {
        StoreError(.corrupt, "The stored \(what) is incomplete.")
    }
}
