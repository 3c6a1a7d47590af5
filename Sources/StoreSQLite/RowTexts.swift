// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

/// The strings and blobs of one row in one buffer that SQLite reads while a statement runs. Bound separately, SQLite would
/// copy each of them.
final class RowTexts {
    private var bytes = ByteWriter(capacity: 1024)
    private var values: [Value] = []

    private struct Value {
        let index: Int32
        let range: Range<Int>
        let isBlob: Bool
    }

    /// Removes the values of the previous row.
    func removeAll() {
        bytes.removeAll()
        values.removeAll(keepingCapacity: true)
    }

    /// Adds a string for the parameter at that index.
    func add(_ text: String, at index: Int32) {
        add(at: index) { $0.append(text) }
    }

    /// Adds a string as UTF-8 bytes.
    func add(_ text: Data, at index: Int32) {
        text.withUnsafeBytes { text in add(at: index) { $0.append(text) } }
    }

    /// Adds a date in its local text form.
    func add(_ date: Timestamp, at index: Int32) {
        add(at: index) { $0.append(date, isLocal: true) }
    }

    /// Adds the string that the body writes.
    func add(at index: Int32, isBlob: Bool = false, _ write: (inout ByteWriter) -> Void) {
        let start = bytes.count
        write(&bytes)
        values.append(Value(index: index, range: start..<bytes.count, isBlob: isBlob))
    }

    /// Adds the blob that the body writes.
    func addBlob(at index: Int32, _ write: (inout ByteWriter) -> Void) { add(at: index, isBlob: true, write) }

    /// Calls the body with the value at that index, or with no bytes when there is none.
    func withValue(at index: Int32, _ body: (UnsafeRawBufferPointer) -> Void) {
        let range = values.first { $0.index == index }?.range ?? 0..<0
        bytes.withBytes { body(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }

    /// Calls `bind` with each value and its index, then `body`; the values are valid until `body` returns.
    func withValues(
        _ bind: (UnsafeRawBufferPointer, _ index: Int32, _ isBlob: Bool) throws -> Void,
        thenRun body: () throws -> Void
    ) throws {
        try bytes.withBytes { bytes in
            for value in values {
                try bind(UnsafeRawBufferPointer(rebasing: bytes[value.range]), value.index, value.isBlob)
            }
            try body()
        }
    }
}
