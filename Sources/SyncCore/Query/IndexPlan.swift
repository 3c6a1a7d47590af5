// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A range of an index: from `lower` up to and including the encoded values with the prefix `upper`.
@usableFromInline package struct IndexRange: Sendable {
    package var lower: [UInt8] = []
    package var upper: [UInt8] = []

    /// Whether the key, which begins with an encoded value, is not behind the range.
    package func endsAfter(_ key: UnsafeRawBufferPointer) -> Bool {
        key.starts(with: upper) || key.lexicographicallyPrecedes(upper)
    }
}

/// The index ranges that contain all matches of a filter.
struct IndexPlan {
    let column: IndexedColumn
    var ranges: [IndexRange]
    /// The range of an equality comparison; its keys are in the order of item ids.
    var rangeInOrderOfID: IndexRange?

    /// Selectivity; lower is better.
    fileprivate var rank: Int {
        if rangeInOrderOfID != nil { return 0 }
        return ranges.contains { $0.lower.isEmpty || $0.upper.isEmpty } ? 2 : 1
    }
}

extension Filter {
    /// Returns the most selective plan that uses one index, or `nil` when no index applies.
    func indexPlan(for table: SyncTableDefinition) -> IndexPlan? {
        var plans: [String: IndexPlan] = [:]
        for condition in conditions {
            guard let plan = condition.simplePlan(for: table) else { continue }
            let name = plan.column.name
            plans[name] = plans[name].map { $0.combined(with: plan) } ?? plan
        }
        return plans.values.min { ($0.rank, $0.column.name) < ($1.rank, $1.column.name) }
    }

    /// The operands of a conjunction.
    private var conditions: [Filter] {
        if case .all(let filters) = self { filters.flatMap(\.conditions) } else { [self] }
    }

    private func simplePlan(for table: SyncTableDefinition) -> IndexPlan? {
        switch self {
        case .comparison(let comparison, .column(let name), .constant(let value)):
            return IndexedColumn(name, of: table)?.plan(comparison, value)
        case .comparison(let comparison, .constant(let value), .column(let name)):
            return IndexedColumn(name, of: table)?.plan(comparison.mirrored, value)
        case .membership(.column(let name), let values):
            return IndexedColumn(name, of: table)?.plan(values.filter { !$0.isNull })
        case .text(.hasPrefix, .column(let name), .constant(.text(let prefix))):
            guard let column = IndexedColumn(name, of: table), column.column.type == .text else { return nil }
            let start = column.encodedPrefix(prefix)
            return IndexPlan(column: column, ranges: [IndexRange(lower: start, upper: start)])
        default: return nil
        }
    }
}

extension IndexPlan {
    /// Returns the more selective plan, or the intersection of two half-open ranges.
    fileprivate func combined(with other: IndexPlan) -> IndexPlan {
        guard rank == 2, other.rank == 2, let mine = ranges.first, let others = other.ranges.first else {
            return rank <= other.rank ? self : other
        }
        let lower = mine.lower.lexicographicallyPrecedes(others.lower) ? others.lower : mine.lower
        let uppers = [mine.upper, others.upper].filter { !$0.isEmpty }
        let upper = uppers.min { $0.lexicographicallyPrecedes($1) } ?? []
        return IndexPlan(column: column, ranges: [IndexRange(lower: lower, upper: upper)])
    }
}

extension IndexedColumn {
    fileprivate init?(_ name: String, of table: SyncTableDefinition) {
        guard let column = table.column(named: name) else { return nil }
        self.init(column)
    }

    fileprivate func plan(_ comparison: Filter.Comparison, _ value: ItemValue) -> IndexPlan? {
        guard let encoded = encode(value) else { return nil }
        let exact = IndexRange(lower: encoded, upper: encoded)
        return switch comparison {
        case .equal: IndexPlan(column: self, ranges: [exact], rangeInOrderOfID: exact)
        case .notEqual: nil
        case .less, .lessOrEqual: IndexPlan(column: self, ranges: [IndexRange(upper: encoded)])
        case .greater, .greaterOrEqual: IndexPlan(column: self, ranges: [IndexRange(lower: encoded)])
        }
    }

    fileprivate func plan(_ values: [ItemValue]) -> IndexPlan? {
        let encoded = values.map { encode($0) }
        guard !encoded.contains(nil) else { return nil }
        return IndexPlan(
            column: self, ranges: Set(encoded.compactMap(\.self)).map { IndexRange(lower: $0, upper: $0) })
    }
}
