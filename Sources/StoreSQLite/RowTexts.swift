// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

/// The strings of one row in one buffer that SQLite reads while a statement runs. Bound separately, SQLite would copy
/// each of them.
final class RowTexts {
    private var bytes = ByteWriter(capacity: 1024)
    private var ranges: [(index: Int32, range: Range<Int>)] = []

    /// Removes the strings of the previous row.
    func removeAll() {
        bytes.removeAll()
        ranges.removeAll(keepingCapacity: true)
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
    func add(at index: Int32, _ write: (inout ByteWriter) -> Void) {
        let start = bytes.count
        write(&bytes)
        ranges.append((index, start..<bytes.count))
    }

    /// Calls the body with the string that was added last.
    func withLast(_ body: (UnsafeRawBufferPointer) -> Void) {
        guard let last = ranges.last else { return }
        bytes.withBytes { body(UnsafeRawBufferPointer(rebasing: $0[last.range])) }
    }

    /// Calls `bind` with each string and its index, then `body`; the strings are valid until `body` returns.
    func withTexts(
        _ bind: (UnsafeRawBufferPointer, _ index: Int32) throws -> Void, thenRun body: () throws -> Void
    ) throws {
        try bytes.withBytes { bytes in
            for (index, range) in ranges { try bind(UnsafeRawBufferPointer(rebasing: bytes[range]), index) }
            try body()
        }
    }
}
