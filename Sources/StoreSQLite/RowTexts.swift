// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// The texts of one row in one piece of memory, where SQLite reads them while a statement runs. Bound one by one, SQLite
/// would make a copy of each.
final class RowTexts {
    private var bytes: [UInt8] = []
    private var places: [(index: Int32, range: Range<Int>)] = []

    /// Forgets the texts of the row before.
    func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        places.removeAll(keepingCapacity: true)
    }

    /// Adds the text that is to be bound at that position.
    func add(_ text: String, at index: Int32) {
        var text = text
        text.withUTF8 { add($0, at: index) }
    }

    /// Adds a text as its UTF-8 bytes.
    func add(_ text: some Collection<UInt8>, at index: Int32) {
        add(at: index) { $0.append(contentsOf: text) }
    }

    /// Adds a date as its local text.
    func add(_ date: Timestamp, at index: Int32) {
        add(at: index) { date.append(to: &$0, isLocal: true) }
    }

    private func add(at index: Int32, _ write: (inout [UInt8]) -> Void) {
        let start = bytes.count
        write(&bytes)
        places.append((index, start..<bytes.count))
    }

    /// Lends all texts with their positions; they are there until the second body returns.
    func withTexts(
        _ lend: (UnsafeRawBufferPointer, _ index: Int32) throws -> Void, whileThere body: () throws -> Void
    ) throws {
        try bytes.withUnsafeBytes { bytes in
            for (index, range) in places { try lend(UnsafeRawBufferPointer(rebasing: bytes[range]), index) }
            try body()
        }
    }
}
