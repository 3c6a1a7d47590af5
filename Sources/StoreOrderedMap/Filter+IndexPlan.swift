// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// A range of index keys: from `lower` up to and including the keys with the prefix `upper`.
struct IndexRange {
    var lower: [UInt8] = []
    var upper: [UInt8] = []

    func endsAfter(_ key: UnsafeRawBufferPointer) -> Bool {
        key.starts(with: upper) || key.lexicographicallyPrecedes(upper)
    }
}

/// The index ranges that contain all matches of a filter.
struct IndexPlan {
    let index: ColumnIndex
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
            let name = plan.index.column.name
            plans[name] = plans[name].map { $0.combined(with: plan) } ?? plan
        }
        return plans.values.min { ($0.rank, $0.index.column.name) < ($1.rank, $1.index.column.name) }
    }

    /// The operands of a conjunction.
    private var conditions: [Filter] {
        if case .all(let filters) = self { filters.flatMap(\.conditions) } else { [self] }
    }

    private func simplePlan(for table: SyncTableDefinition) -> IndexPlan? {
        switch self {
        case .comparison(let comparison, .column(let name), .constant(let value)):
            return ColumnIndex(name, of: table)?.plan(comparison, value)
        case .comparison(let comparison, .constant(let value), .column(let name)):
            return ColumnIndex(name, of: table)?.plan(comparison.mirrored, value)
        case .membership(.column(let name), let values):
            return ColumnIndex(name, of: table)?.plan(values.filter { !$0.isNull })
        case .text(.hasPrefix, .column(let name), .constant(.text(let prefix))):
            guard let index = ColumnIndex(name, of: table), index.column.type == .text else { return nil }
            let start = index.encodedPrefix(prefix)
            return IndexPlan(index: index, ranges: [IndexRange(lower: start, upper: start)])
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
        return IndexPlan(index: index, ranges: [IndexRange(lower: lower, upper: upper)])
    }
}

extension ColumnIndex {
    fileprivate init?(_ name: String, of table: SyncTableDefinition) {
        guard let column = table.column(named: name) else { return nil }
        self.init(column, of: table.name)
    }

    fileprivate func plan(_ comparison: Filter.Comparison, _ value: ItemValue) -> IndexPlan? {
        guard let encoded = encode(value) else { return nil }
        let exact = IndexRange(lower: encoded, upper: encoded)
        return switch comparison {
        case .equal: IndexPlan(index: self, ranges: [exact], rangeInOrderOfID: exact)
        case .notEqual: nil
        case .less, .lessOrEqual: IndexPlan(index: self, ranges: [IndexRange(upper: encoded)])
        case .greater, .greaterOrEqual: IndexPlan(index: self, ranges: [IndexRange(lower: encoded)])
        }
    }

    fileprivate func plan(_ values: [ItemValue]) -> IndexPlan? {
        let encoded = values.map { encode($0) }
        guard !encoded.contains(nil) else { return nil }
        return IndexPlan(
            index: self, ranges: Set(encoded.compactMap(\.self)).map { IndexRange(lower: $0, upper: $0) })
    }
}

extension Filter.Comparison {
    fileprivate var mirrored: Filter.Comparison {
        switch self {
        case .equal, .notEqual: self
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        }
    }
}
