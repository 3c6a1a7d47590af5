// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

/// The texts of one row in one piece of memory, where SQLite reads them while a statement runs. Bound one by one, SQLite
/// would make a copy of each.
final class RowTexts {
    private var bytes = ByteWriter(capacity: 1024)
    private var places: [(index: Int32, range: Range<Int>)] = []

    /// Forgets the texts of the row before.
    func removeAll() {
        bytes.removeAll()
        places.removeAll(keepingCapacity: true)
    }

    /// Adds the text that is to be bound at that position.
    func add(_ text: String, at index: Int32) {
        add(at: index) { $0.append(text) }
    }

    /// Adds a text that comes as UTF-8 bytes.
    func add(_ text: Data, at index: Int32) {
        text.withUnsafeBytes { text in add(at: index) { $0.append(text) } }
    }

    /// Adds a date as its local text.
    func add(_ date: Timestamp, at index: Int32) {
        add(at: index) { $0.append(date, isLocal: true) }
    }

    /// Adds the text that the body writes.
    func add(at index: Int32, _ write: (inout ByteWriter) -> Void) {
        let start = bytes.count
        write(&bytes)
        places.append((index, start..<bytes.count))
    }

    /// Lends all texts with their positions; they are there until the second body returns.
    func withTexts(
        _ lend: (UnsafeRawBufferPointer, _ index: Int32) throws -> Void, whileThere body: () throws -> Void
    ) throws {
        try bytes.withBytes { bytes in
            for (index, range) in places { try lend(UnsafeRawBufferPointer(rebasing: bytes[range]), index) }
            try body()
        }
    }
}
