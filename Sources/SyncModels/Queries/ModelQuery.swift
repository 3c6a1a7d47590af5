// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import SyncCore

/// A query of the items of one model: a filter, an order, an offset and a limit.
///
/// ```swift
/// let open = Todo.where { !$0.complete && $0.text.contains("eggs") }.order(by: \.text).limit(20)
/// ```
///
/// A query is a value: every method returns a modified copy.
public struct ModelQuery<Model: SyncModel>: Sendable, Hashable {
    /// The query of the table.
    public private(set) var raw: TableQuery
    var unmapped: UnmappedProperty?

    /// Makes a query for all items.
    public init() { raw = TableQuery(Model.tableName) }

    /// Adds a condition that items must match.
    public func `where`<C: Condition<Model>>(_ condition: (Terms<Model>) -> C) -> ModelQuery {
        self.where(condition(Terms()).condition)
    }

    /// Adds a condition that items must match.
    public func `where`(_ condition: Where<Model>) -> ModelQuery {
        var copy = self
        copy.raw = raw.where(condition.filter)
        copy.unmapped = unmapped ?? condition.unmapped
        return copy
    }

    /// Adds a key to the order. Nulls are first in ascending order; items with equal keys are ordered by id.
    public func order(by path: KeyPath<Model, some FieldValue>, descending: Bool = false) -> ModelQuery {
        var copy = self
        guard let name = Model.schema.columnReference(at: path)?.name else {
            copy.unmapped = unmapped ?? UnmappedProperty(path)
            return copy
        }
        copy.raw = descending ? raw.order(byDescending: name) : raw.order(by: name)
        return copy
    }

    /// Skips that number of matching items.
    public func offset(_ count: Int) -> ModelQuery { with { $0.offset(count) } }

    /// Returns at most that number of items.
    public func limit(_ count: Int) -> ModelQuery { with { $0.limit(count) } }

    /// Includes the number of all matching items: see ``ModelPage/totalCount``.
    public func includingTotalCount() -> ModelQuery { with { $0.includingTotalCount() } }

    private func with(_ change: (TableQuery) -> TableQuery) -> ModelQuery {
        var copy = self
        copy.raw = change(raw)
        return copy
    }

    /// Returns the query of the table.
    ///
    /// - Throws: ``SyncError/Code/filterNotSupported`` if the query uses a property without a column.
    func tableQuery() throws(SyncError) -> TableQuery {
        if let unmapped { throw unmapped.error }
        return raw
    }
}

extension SyncModel {
    /// A query for all items.
    public static var all: ModelQuery<Self> { ModelQuery() }

    /// Returns a query for the items that match the condition.
    public static func `where`<C: Condition<Self>>(_ condition: (Terms<Self>) -> C) -> ModelQuery<Self> {
        all.where(condition)
    }
}
