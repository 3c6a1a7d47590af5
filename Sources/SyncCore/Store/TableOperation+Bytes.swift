// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

// The stored form of an operation, in two parts. The header is a byte for the version of the form, flags, kind and state,
// numbers and times. The rows are a byte of flags, the items that the flags indicate, each with its id, and what was sent.
// A store may keep the header as JSON instead, so that people can read it: see ``TableOperation/storedProperties``.

private let headerVersion: UInt8 = 1

private enum Flag {
    static let replaces: UInt8 = 1
    static let adopted: UInt8 = 2
    static let lastAttempt: UInt8 = 4
    static let lastStatus: UInt8 = 8
    static let version: UInt8 = 16
    static let changedAt: UInt8 = 32
    static let performed: UInt8 = 64
}

private enum Row {
    static let base: UInt8 = 1
    static let server: UInt8 = 2
    static let deleted: UInt8 = 4
    static let sent: UInt8 = 8
}

extension TableOperation {
    /// The stored values of ``revision`` and ``refusals``: increasing them does not overflow.
    static let counters = 0...Int.max / 2

    /// Appends all properties except ``id``, ``table`` and ``itemID``; ``init(id:table:itemID:bytes:)`` decodes them.
    package func appendBytes(to bytes: inout ByteWriter) {
        bytes.append(headerVersion)
        var flags: UInt8 = 0
        if replaces { flags |= Flag.replaces }
        if isAdopted { flags |= Flag.adopted }
        if lastAttempt != nil { flags |= Flag.lastAttempt }
        if lastStatus != nil { flags |= Flag.lastStatus }
        if version != nil { flags |= Flag.version }
        if changedAt != nil { flags |= Flag.changedAt }
        if isPerformed { flags |= Flag.performed }
        bytes.append(flags)
        bytes.append(kind.code)
        bytes.append(state.code)
        bytes.append(varint: revision)
        bytes.append(varint: refusals)
        if let lastAttempt { bytes.append(fixed: lastAttempt) }
        if let lastStatus { bytes.append(varint: lastStatus) }
        if let version { bytes.append(counted: version) }
        if let changedAt { bytes.append(fixed: changedAt) }
        appendRows(to: &bytes)
    }

    /// Reads an operation that ``appendBytes(to:)`` wrote, or its ``storedProperties``, which stores of earlier versions
    /// contain.
    ///
    /// - Throws: ``StoreError`` with code ``StoreError/Code/corrupt``.
    package init(
        id: Int64, table: String, itemID: String, bytes: UnsafeRawBufferPointer
    ) throws(StoreError) {
        guard bytes.first != UInt8(ascii: "{") else {
            try self.init(id: id, table: table, itemID: itemID, storedProperties: bytes)
            return
        }
        self.init(id: id, table: table, itemID: itemID, kind: .update)
        try read(bytes) { operation, reader throws(StoreError) in
            try operation.readHeader(&reader)
            try operation.readRows(&reader)
        }
    }

    private mutating func readHeader(_ reader: inout ByteReader) throws(StoreError) {
        guard try reader.byte() == headerVersion else {
            throw StoreError(.corrupt, "The store is damaged: the form of an operation is unknown.")
        }
        let flags = try reader.byte()
        replaces = flags & Flag.replaces != 0
        isAdopted = flags & Flag.adopted != 0
        isPerformed = flags & Flag.performed != 0
        kind = try reader.coded(Kind.self)
        state = try reader.coded(State.self)
        revision = try reader.counter()
        refusals = try reader.counter()
        if flags & Flag.lastAttempt != 0 { lastAttempt = try reader.date() }
        if flags & Flag.lastStatus != 0 { lastStatus = try reader.varint() }
        if flags & Flag.version != 0 { version = try reader.text() }
        if flags & Flag.changedAt != 0 { changedAt = try reader.date() }
    }

    /// Reads the whole of the bytes. The error names the operation.
    private mutating func read(
        _ bytes: UnsafeRawBufferPointer,
        _ body: (inout TableOperation, inout ByteReader) throws(StoreError) -> Void
    ) throws(StoreError) {
        var reader = ByteReader(bytes)
        do {
            try body(&self, &reader)
            try reader.requireEnd(of: "an operation")
        } catch {
            throw StoreError(.corrupt, "The stored operation \(id) cannot be read.", cause: error)
        }
    }
}

// MARK: - Rows

extension TableOperation {
    /// Appends ``base``, ``serverItem``, ``deletedItem`` and ``sent``.
    package func appendRows(to bytes: inout ByteWriter) {
        guard let rows = rows?.values else { return bytes.append(0) }
        var flags: UInt8 = 0
        if rows.base != nil { flags |= Row.base }
        if rows.serverItem != nil { flags |= Row.server }
        if rows.deletedItem != nil { flags |= Row.deleted }
        if rows.sent != nil { flags |= Row.sent }
        bytes.append(flags)
        if let base = rows.base { bytes.append(withID: base) }
        if let serverItem = rows.serverItem { bytes.append(withID: serverItem) }
        if let deletedItem = rows.deletedItem { bytes.append(withID: deletedItem) }
        if let sent = rows.sent {
            bytes.append(sent.kind.code)
            bytes.append(sent.version == nil ? 0 : 1)
            if let version = sent.version { bytes.append(counted: version) }
            bytes.append(sent.fields)
        }
    }

    /// Reads the rows that ``appendRows(to:)`` wrote.
    ///
    /// - Throws: ``StoreError`` with code ``StoreError/Code/corrupt``.
    mutating func readRows(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
        try read(bytes) { operation, reader throws(StoreError) in try operation.readRows(&reader) }
    }

    private mutating func readRows(_ reader: inout ByteReader) throws(StoreError) {
        let flags = try reader.byte()
        if flags & Row.base != 0 { base = try reader.itemWithID() }
        if flags & Row.server != 0 { serverItem = try reader.itemWithID() }
        if flags & Row.deleted != 0 { deletedItem = try reader.itemWithID() }
        if flags & Row.sent != 0 {
            let kind = try reader.coded(Kind.self)
            let version = try reader.byte() == 0 ? nil : try reader.text()
            sent = SentSnapshot(kind: kind, fields: try reader.object(), version: version)
        }
    }
}

extension ByteWriter {
    fileprivate mutating func append(withID item: Item) {
        append(counted: item.id)
        append(item)
    }
}

extension ByteReader {
    fileprivate mutating func counter() throws(StoreError) -> Int {
        let counter = try varint()
        guard TableOperation.counters.contains(counter) else {
            throw StoreError(.corrupt, "The store is damaged: a counter of an operation is out of range.")
        }
        return counter
    }

    fileprivate mutating func itemWithID() throws(StoreError) -> Item { try item(id: text()) }
}

// MARK: - Codes

private protocol Coded: CaseIterable {
    var code: UInt8 { get }
}

extension TableOperation.Kind: Coded {
    fileprivate var code: UInt8 {
        switch self {
        case .insert: 0
        case .update: 1
        case .delete: 2
        }
    }
}

extension TableOperation.State: Coded {
    fileprivate var code: UInt8 {
        switch self {
        case .pending: 0
        case .attempted: 1
        case .parked: 2
        }
    }
}

extension ByteReader {
    fileprivate mutating func coded<Value: Coded>(_: Value.Type) throws(StoreError) -> Value {
        let code = try byte()
        guard let value = Value.allCases.first(where: { $0.code == code }) else {
            throw StoreError(.corrupt, "The store is damaged: the kind or state of an operation is unknown.")
        }
        return value
    }
}
