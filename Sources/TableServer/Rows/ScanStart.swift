// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// The positions before which no row matches a filter: a scan starts there, so a late page costs no more than the
/// first.
struct ScanStart: Sendable {
    /// Matching rows have an id after this one.
    var id: RowKey?
    /// Matching rows are after this position in the order of changes.
    var update: UpdateBound?

    /// A position between rows in the order of `updatedAt` and id.
    struct UpdateBound: Sendable {
        let updatedAt: Timestamp
        let position: Position

        /// A position relative to the rows with this `updatedAt`.
        enum Position: Sendable {
            case beforeAll
            case after(RowKey)
            case afterAll
        }

        /// Whether the row with this key is before the position.
        func isAfter(_ key: UpdateKey) -> Bool {
            guard key.updatedAt.isSameInstant(as: updatedAt) else {
                return key.updatedAt.isEarlier(than: updatedAt)
            }
            switch position {
            case .beforeAll: return false
            case .after(let id): return !(id < key.id)
            case .afterAll: return true
            }
        }

        static func < (left: UpdateBound, right: UpdateBound) -> Bool {
            guard left.updatedAt.isSameInstant(as: right.updatedAt) else {
                return left.updatedAt.isEarlier(than: right.updatedAt)
            }
            switch (left.position, right.position) {
            case (.beforeAll, .beforeAll), (_, .beforeAll), (.afterAll, _): return false
            case (.beforeAll, _), (.after, .afterAll): return true
            case (.after(let a), .after(let b)): return a < b
            }
        }
    }
}

extension ScanStart {
    /// Returns the start for rows that match both filters.
    func intersection(_ other: ScanStart) -> ScanStart {
        var start = ScanStart()
        start.id = Self.later(id, other.id, by: <)
        start.update = Self.later(update, other.update, by: <)
        return start
    }

    /// Returns the start for rows that match either filter.
    func union(_ other: ScanStart) -> ScanStart {
        var start = ScanStart()
        if let a = id, let b = other.id { start.id = a < b ? a : b }
        if let a = update, let b = other.update { start.update = a < b ? a : b }
        return start
    }

    private static func later<Bound>(
        _ left: Bound?, _ right: Bound?, by precedes: (Bound, Bound) -> Bool
    ) -> Bound? {
        guard let left, let right else { return left ?? right }
        return precedes(left, right) ? right : left
    }
}
