// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// Conditions that a filter implies and for which there is an index, so that a late page costs no more than the first.
struct RowBounds: Sendable, Hashable {
    /// Matching rows have this id.
    var idEquals: String?
    /// Matching rows have an id after this one.
    var idAfter: String?
    /// Matching rows are at or after this position in the order of changes.
    var update: UpdateBound?
    /// Matching rows have no later `updatedAt`.
    var latestUpdate: Timestamp?

    /// Whether matching rows have changed within one second, which are few: a pull reads the rows of one `updatedAt` again.
    var isShortTime: Bool {
        guard let first = update?.updatedAt, let latestUpdate else { return false }
        return !first.advanced(by: .seconds(1)).isEarlier(than: latestUpdate)
    }

    /// A position between rows in the order of `updatedAt` and id.
    struct UpdateBound: Sendable, Hashable {
        let updatedAt: Timestamp
        let position: Position

        /// A position relative to the rows with this `updatedAt`.
        enum Position: Sendable, Hashable {
            case beforeAll
            case after(String)
            case afterAll
        }

        static func < (left: UpdateBound, right: UpdateBound) -> Bool {
            guard left.updatedAt.isSameInstant(as: right.updatedAt) else {
                return left.updatedAt.isEarlier(than: right.updatedAt)
            }
            switch (left.position, right.position) {
            case (.beforeAll, .beforeAll), (_, .beforeAll), (.afterAll, _): return false
            case (.beforeAll, _), (.after, .afterAll): return true
            case (.after(let a), .after(let b)): return a.precedesInBytes(b)
            }
        }
    }
}

extension RowBounds {
    /// Returns the bounds of rows that match both filters.
    func intersection(_ other: RowBounds) -> RowBounds {
        var bounds = RowBounds()
        bounds.idEquals = idEquals ?? other.idEquals
        bounds.idAfter = Self.later(idAfter, other.idAfter) { $0.precedesInBytes($1) }
        bounds.update = Self.later(update, other.update, by: <)
        bounds.latestUpdate = Self.later(latestUpdate, other.latestUpdate) { $1.isEarlier(than: $0) }
        return bounds
    }

    /// Returns the bounds of rows that match either filter.
    func union(_ other: RowBounds) -> RowBounds {
        var bounds = RowBounds()
        if let a = idEquals, let b = other.idEquals, a.hasSameBytes(as: b) { bounds.idEquals = a }
        if let a = idAfter, let b = other.idAfter { bounds.idAfter = a.precedesInBytes(b) ? a : b }
        if let a = update, let b = other.update { bounds.update = a < b ? a : b }
        if let a = latestUpdate, let b = other.latestUpdate {
            bounds.latestUpdate = a.isEarlier(than: b) ? b : a
        }
        return bounds
    }

    private static func later<Bound>(
        _ left: Bound?, _ right: Bound?, by precedes: (Bound, Bound) -> Bool
    ) -> Bound? {
        guard let left, let right else { return left ?? right }
        return precedes(left, right) ? right : left
    }
}

extension SQLText {
    /// Appends the bounds as further conditions after a condition.
    mutating func append(bounds: RowBounds) {
        if let id = bounds.idEquals {
            append(" AND id = ")
            append(.text(id))
        }
        if let id = bounds.idAfter {
            append(" AND id > ")
            append(.text(id))
        }
        if let latest = bounds.latestUpdate {
            append(" AND updatedAt <= ")
            append(.text(latest.storedText))
        }
        guard let update = bounds.update else { return }
        switch update.position {
        case .beforeAll: append(" AND updatedAt >= ")
        case .afterAll: append(" AND updatedAt > ")
        case .after(let id):
            append(" AND (updatedAt, id) > (")
            append(.text(update.updatedAt.storedText))
            append(", ")
            append(.text(id))
            append(")")
            return
        }
        append(.text(update.updatedAt.storedText))
    }
}
