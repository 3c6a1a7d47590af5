// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The columns of a map and how often openings had changed them when they were read.
struct NumberedColumns: Sendable {
    let columns: StoredColumns
    /// The number under ``StoreKey/columnChanges``; 0 in a map of one process, which does not store it.
    let changeCount: Int64
}

/// The columns of a map of several processes. Another opening may change them at any time, so each transaction compares
/// the number of changes, and reads the columns again when it differs.
final class SharedColumns: Sendable {
    private let latest: Mutex<NumberedColumns>

    init(_ opened: NumberedColumns) { latest = Mutex(opened) }

    /// Returns the columns that the snapshot or transaction has.
    func columns(in reading: some OrderedMapReading) throws -> StoredColumns {
        let changeCount = try reading.number(StoreKey.columnChanges)
        let known = latest.withLock { $0 }
        if known.changeCount == changeCount { return known.columns }
        let read = NumberedColumns(columns: try reading.readStoredColumns(), changeCount: changeCount)
        // A snapshot may be older than the columns that another thread has read.
        latest.withLock { latest in
            if latest.changeCount < changeCount { latest = read }
        }
        return read.columns
    }
}
