// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

// The stored form of an item: one byte of flags, the system properties that the flags indicate, the number of fields,
// and each field's name and value. A value is a tag and its payload. The id is in the key.

private enum Flag {
    static let createdAt: UInt8 = 1
    static let updatedAt: UInt8 = 2
    static let version: UInt8 = 4
    static let deleted: UInt8 = 8
    static let superseded: UInt8 = 16
    static let undeclared: UInt8 = 32
}

private enum Tag: UInt8 {
    case null, no, yes, int, double, text, date, data, array, object
}

extension Item {
    /// The stored form, without the id; ``init(id:bytes:keeping:)`` decodes it.
    package var bytes: [UInt8] {
        var bytes = ByteWriter(capacity: 512)
        bytes.append(self)
        return bytes.array
    }

    /// Decodes an item. When `layout` is not `nil`, decodes only the fields that it has.
    package init(id: String, bytes: UnsafeRawBufferPointer, keeping layout: FieldLayout? = nil)
        throws(StoreError)
    {
        var reader = ByteReader(bytes)
        self = try reader.item(id: id, keeping: layout)
        try reader.requireEnd(of: "an item")
    }
}

extension ByteWriter {
    /// Appends the stored form of an item, without its id.
    mutating func append(_ item: Item) {
        let system = item.system
        var flags: UInt8 = 0
        if system.createdAt != nil { flags |= Flag.createdAt }
        if system.updatedAt != nil { flags |= Flag.updatedAt }
        if system.version != nil { flags |= Flag.version }
        if system.deleted { flags |= Flag.deleted }
        if !system.supersededVersions.isEmpty { flags |= Flag.superseded }
        if !system.undeclared.isEmpty { flags |= Flag.undeclared }
        append(flags)
        if let date = system.createdAt { append(fixed: date) }
        if let date = system.updatedAt { append(fixed: date) }
        if let version = system.version { append(counted: version) }
        if !system.supersededVersions.isEmpty {
            append(varint: system.supersededVersions.count)
            for version in system.supersededVersions { append(counted: version) }
        }
        if !system.undeclared.isEmpty { append(system.undeclared) }
        append(item.content)
    }

    private mutating func append(_ fields: ItemFields) {
        append(varint: fields.count)
        fields.forEach { name, value in
            append(counted: name)
            append(value)
        }
    }

    mutating func append(_ fields: [String: ItemValue]) {
        append(varint: fields.count)
        for (name, value) in fields {
            append(counted: name)
            append(value)
        }
    }

    fileprivate mutating func append(_ value: ItemValue) {
        switch value {
        case .null: append(Tag.null.rawValue)
        case .bool(let bool): append((bool ? Tag.yes : Tag.no).rawValue)
        case .int(let int):
            append(Tag.int.rawValue)
            append(fixed: int)
        case .double(let double):
            append(Tag.double.rawValue)
            append(fixed: double.bitPattern)
        case .text(let text):
            append(Tag.text.rawValue)
            append(counted: text)
        case .date(let date):
            append(Tag.date.rawValue)
            append(fixed: date)
        case .data(let data):
            append(Tag.data.rawValue)
            data.withUnsafeBytes { append(counted: $0) }
        case .array(let values):
            append(Tag.array.rawValue)
            append(varint: values.count)
            for value in values { append(value) }
        case .object(let fields):
            append(Tag.object.rawValue)
            append(fields)
        }
    }

    mutating func append(fixed date: Timestamp) {
        append(fixed: date.seconds)
        append(fixed: date.nanoseconds)
        append(fixed: date.fractionDigits)
    }
}

extension ByteReader {
    mutating func item(id: String, keeping layout: FieldLayout? = nil) throws(StoreError) -> Item {
        let system = try systemProperties()
        guard let layout else { return Item(id: id, fields: try object(), system: system) }
        var values = [ItemValue?](repeating: .none, count: layout.count)
        try forEachField(of: layout) { position, reader throws(StoreError) in
            guard values[position] == nil else { throw .repeatedName }
            values[position] = try reader.value()
        }
        return Item(id: id, content: ItemFields(layout, values), system: system)
    }

    mutating func systemProperties() throws(StoreError) -> SystemProperties {
        let flags = try byte()
        var system = SystemProperties(deleted: flags & Flag.deleted != 0)
        if flags & Flag.createdAt != 0 { system.createdAt = try date() }
        if flags & Flag.updatedAt != 0 { system.updatedAt = try date() }
        if flags & Flag.version != 0 { system.version = try text() }
        if flags & Flag.superseded != 0 {
            for _ in 0..<(try count()) { system.supersededVersions.append(try text()) }
        }
        if flags & Flag.undeclared != 0 { system.undeclared = try object() }
        return system
    }

    mutating func skipSystemProperties() throws(StoreError) {
        let flags = try byte()
        if flags & Flag.createdAt != 0 { try skipDate() }
        if flags & Flag.updatedAt != 0 { try skipDate() }
        if flags & Flag.version != 0 { _ = try counted() }
        if flags & Flag.superseded != 0 {
            for _ in 0..<(try count()) { _ = try counted() }
        }
        if flags & Flag.undeclared != 0 { try skipObject() }
    }

    /// Decodes one field of an object; returns `nil` when the object has no field of that name.
    mutating func field(named name: String) throws(StoreError) -> ItemValue? {
        for _ in 0..<(try count()) {
            if try counted().isUTF8(of: name) { return try value() }
            try skipValue()
        }
        return nil
    }

    /// Decodes an element count. Each element takes at least one byte, so a damaged count does not reserve memory.
    fileprivate mutating func count() throws(StoreError) -> Int {
        let count = try varint()
        guard (0...rest.count).contains(count) else {
            throw StoreError(.corrupt, "The store is damaged: a list is truncated.")
        }
        return count
    }

    mutating func object() throws(StoreError) -> [String: ItemValue] {
        let count = try count()
        var fields = [String: ItemValue](minimumCapacity: count)
        for _ in 0..<count { fields[try text()] = try value() }
        guard fields.count == count else { throw .repeatedName }
        return fields
    }

    /// Calls the body with the position of each field that the layout has. The body reads the value.
    private mutating func forEachField(
        of layout: FieldLayout, _ body: (_ position: Int, inout ByteReader) throws(StoreError) -> Void
    ) throws(StoreError) {
        // Most rows have the order of the layout.
        var next = 0
        for _ in 0..<(try count()) {
            let name = try counted()
            let isNext = next < layout.count && layout.hasUTF8(name, at: next)
            if let position = isNext ? next : layout.position(ofUTF8: name) {
                try body(position, &self)
                next = position + 1
            } else {
                try skipValue()
            }
        }
    }

    /// Decodes the fields of the layout, null for missing ones.
    mutating func fields(_ layout: FieldLayout, into values: inout [ItemValue]) throws(StoreError) {
        for position in values.indices { values[position] = .null }
        try forEachField(of: layout) { position, reader throws(StoreError) in
            values[position] = try reader.value()
        }
    }

    /// Finds the fields of the layout: stores where the value of each begins.
    ///
    /// - Parameter first: the result for the row before. The names of that many fields are not compared at first, because
    ///   most rows have the same order.
    /// - Returns: the number of fields in front of those of the layout; 0 if the object does not have all of them.
    mutating func findFields(
        of layout: FieldLayout, _ offsets: UnsafeMutableBufferPointer<Int>, after first: Int
    ) throws(StoreError) -> Int {
        let start = position
        var (missing, firstFound) = (offsets.count, Int.max)
        for field in 0..<(try count()) {
            let name = try counted()
            if field >= first, let found = layout.position(ofUTF8: name) {
                offsets[found] = position
                firstFound = min(firstFound, field)
                missing -= 1
                if missing == 0 { return firstFound }
            }
            try skipValue()
        }
        if first == 0 { return 0 }
        position = start
        return try findFields(of: layout, offsets, after: 0)
    }

    static func value(at offset: Int, in bytes: UnsafeRawBufferPointer) throws(StoreError) -> ItemValue {
        var reader = ByteReader(bytes)
        reader.position = offset
        return try reader.value()
    }

    /// Whether the tests hold for the value at that offset. No string is made of a text.
    static func truth(
        of condition: ColumnCondition, at offset: Int, in bytes: UnsafeRawBufferPointer
    ) throws(StoreError) -> Bool? {
        var reader = ByteReader(bytes)
        reader.position = offset
        switch try reader.tag() {
        case .text: return condition.truth(forUTF8: try reader.counted())
        case .int: return condition.truth(for: try reader.fixed(Int64.self))
        default: return condition.truth(for: try value(at: offset, in: bytes))
        }
    }

    /// Decodes one level of nesting. Damaged bytes must not use up the stack.
    private mutating func nested<Value>(
        _ body: (inout ByteReader) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        guard depth < Self.maxDepth else {
            throw StoreError(.corrupt, "The store is damaged: a value is nested too deeply.")
        }
        depth += 1
        defer { depth -= 1 }
        return try body(&self)
    }

    private mutating func value() throws(StoreError) -> ItemValue {
        switch try tag() {
        case .null: return .null
        case .no: return .bool(false)
        case .yes: return .bool(true)
        case .int: return .int(try fixed())
        case .double: return .double(try double())
        case .text: return .text(try text())
        case .date: return .date(try date())
        case .data: return .data(Data(try counted()))
        case .array:
            return try nested { reader throws(StoreError) in
                var values: [ItemValue] = []
                for _ in 0..<(try reader.count()) { values.append(try reader.value()) }
                return .array(values)
            }
        case .object:
            return try nested { reader throws(StoreError) in .object(try reader.object()) }
        }
    }

    private mutating func double() throws(StoreError) -> Double {
        let double = Double(bitPattern: try fixed())
        guard double.isFinite else {
            throw StoreError(.corrupt, "The store is damaged: a number is not finite.")
        }
        return double
    }

    @inline(__always) private mutating func skipValue() throws(StoreError) {
        let tag = try tag()
        if tag == .text { _ = try counted() } else { try skipValue(of: tag) }
    }

    private mutating func skipValue(of tag: Tag) throws(StoreError) {
        switch tag {
        case .null, .no, .yes: break
        case .int, .double: _ = try bytes(count: 8)
        case .date: try skipDate()
        case .text, .data: _ = try counted()
        case .array:
            try nested { reader throws(StoreError) in
                for _ in 0..<(try reader.count()) { try reader.skipValue() }
            }
        case .object: try nested { reader throws(StoreError) in try reader.skipObject() }
        }
    }

    private mutating func skipObject() throws(StoreError) {
        for _ in 0..<(try count()) {
            _ = try counted()
            try skipValue()
        }
    }

    @inline(__always) private mutating func tag() throws(StoreError) -> Tag {
        guard let tag = Tag(rawValue: try byte()) else {
            throw StoreError(.corrupt, "The store is damaged: a value has an unknown type.")
        }
        return tag
    }

    @inline(__always) private mutating func skipDate() throws(StoreError) { _ = try bytes(count: 13) }

    mutating func date() throws(StoreError) -> Timestamp {
        let (seconds, nanoseconds, digits) = (
            try fixed(Int64.self), try fixed(Int32.self), try fixed(Int8.self)
        )
        guard
            let date = Timestamp(seconds: seconds, nanoseconds: nanoseconds, fractionDigits: Int(digits))
        else { throw StoreError(.corrupt, "The store is damaged: a date is out of range.") }
        return date
    }
}
