// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The rows of a table that a query must check: a superset of its matches.
@usableFromInline package enum QueryCandidates {
    /// All rows, in the order of ids.
    case all
    /// The rows from this id on, in the order of ids.
    case from(String)
    /// The rows with these ids, in their order.
    case ids([String])
    /// The rows of a range, in the order of ids.
    case rangeInOrderOfID(IndexedColumn, IndexRange)
    /// The rows of a range, in the order of the query's first ordering; equal values in the order of ids.
    case rangeInOrderOfValue(IndexedColumn, IndexRange)
    /// The rows of ranges that do not overlap.
    case ranges(IndexedColumn, [IndexRange])

    /// Above this number of ids, reading the whole table is as fast as looking the ids up.
    @usableFromInline static let maxCount = 65_536
}

extension TableQuery {
    /// Returns the candidates of the query.
    ///
    /// - Parameter usesIndexes: whether the store has an index of each of the table's ``SyncTableDefinition/indexedColumns``.
    @usableFromInline package func candidates(
        in table: SyncTableDefinition, usesIndexes: Bool
    ) -> QueryCandidates {
        guard let filter else { return .all }
        if let ids = filter.requiredIDs { return .ids(ids) }
        guard usesIndexes, let plan = filter.indexPlan(for: table) else {
            return filter.lowestID.map(QueryCandidates.from) ?? .all
        }
        if canStop(in: plan) { return .rangeInOrderOfValue(plan.column, plan.ranges[0]) }
        if let range = plan.rangeInOrderOfID { return .rangeInOrderOfID(plan.column, range) }
        return .ranges(plan.column, plan.ranges)
    }

    /// Whether the plan's index has the query's first ordering, so that reading can stop at the end of the window.
    ///
    /// The plan's filter excludes nulls, which have no index keys.
    private func canStop(in plan: IndexPlan) -> Bool {
        guard limit != nil, !includesTotalCount, let first = orderings.first, !first.isDescending,
            case .column(plan.column.name) = first.expression
        else { return false }
        return plan.ranges.count == 1
    }
}
