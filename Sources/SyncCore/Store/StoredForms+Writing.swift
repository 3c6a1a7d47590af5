// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

// Stored objects are written member by member, in byte order of the names, without intermediate values.

extension JSONWriter {
    /// Returns the bytes of one stored object.
    static func stored(_ write: (inout JSONWriter) -> Void) -> Data {
        var bytes = ByteWriter(capacity: 512)
        appendStored(to: &bytes, write)
        return bytes.data
    }

    /// Appends one stored object.
    static func appendStored(to bytes: inout ByteWriter, _ write: (inout JSONWriter) -> Void) {
        var writer = JSONWriter(style: .tagged, after: bytes)
        writer.beginObject()
        write(&writer)
        writer.endObject()
        bytes = writer.bytes
    }

    mutating func write(_ name: String, _ value: ItemValue) {
        write(name: name)
        write(value)
    }

    mutating func write(_ name: String, _ item: Item) {
        write(name: name)
        beginObject()
        writeMembers(of: item)
        endObject()
    }

    mutating func writeMembers(of item: Item) {
        if let createdAt = item.system.createdAt { write("createdAt", .date(createdAt)) }
        if item.system.deleted { write("deleted", true) }
        write(name: "fields")
        write(object: item.fields)
        write("id", .text(item.id))
        if !item.system.supersededVersions.isEmpty {
            write("superseded", .array(item.system.supersededVersions.map(ItemValue.text)))
        }
        if !item.system.undeclared.isEmpty {
            write(name: "undeclared")
            write(object: item.system.undeclared)
        }
        if let updatedAt = item.system.updatedAt { write("updatedAt", .date(updatedAt)) }
        if let version = item.system.version { write("version", .text(version)) }
    }

    mutating func write(_ name: String, _ sent: TableOperation.SentSnapshot) {
        write(name: name)
        beginObject()
        write(name: "fields")
        write(object: sent.fields)
        write("kind", .text(sent.kind.rawValue))
        if let version = sent.version { write("version", .text(version)) }
        endObject()
    }
}
