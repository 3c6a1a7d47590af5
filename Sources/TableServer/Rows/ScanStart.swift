// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// Where a scan may begin, because a filter holds for no row before; finding it is what makes a page cheap.
struct ScanStart: Sendable {
    /// The rows wanted come after this id.
    var id: RowKey?
    /// The rows wanted come at or after this place in the order of changes.
    var update: UpdateBound?

    /// A place between rows in the order of `updatedAt` and id.
    struct UpdateBound: Sendable {
        let updatedAt: Timestamp
        let place: Place

        enum Place: Sendable {
            case beforeAll
            case after(RowKey)
            case afterAll
        }

        /// Whether the row with that key lies before this place.
        func isAfter(_ key: UpdateKey) -> Bool {
            guard key.updatedAt.isSameInstant(as: updatedAt) else {
                return key.updatedAt.isEarlier(than: updatedAt)
            }
            switch place {
            case .beforeAll: return false
            case .after(let id): return !(id < key.id)
            case .afterAll: return true
            }
        }

        static func < (left: UpdateBound, right: UpdateBound) -> Bool {
            guard left.updatedAt.isSameInstant(as: right.updatedAt) else {
                return left.updatedAt.isEarlier(than: right.updatedAt)
            }
            switch (left.place, right.place) {
            case (.beforeAll, .beforeAll), (_, .beforeAll), (.afterAll, _): return false
            case (.beforeAll, _), (.after, .afterAll): return true
            case (.after(let a), .after(let b)): return a < b
            }
        }
    }
}

extension ScanStart {
    /// Where rows begin for which both conditions may hold.
    func intersection(_ other: ScanStart) -> ScanStart {
        var start = ScanStart()
        start.id = Self.later(id, other.id, by: <)
        start.update = Self.later(update, other.update, by: <)
        return start
    }

    /// Where rows begin for which either condition may hold.
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
