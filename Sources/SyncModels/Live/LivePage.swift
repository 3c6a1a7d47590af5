// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

@_spi(StoreAuthor) public import SyncCore

/// One result of a live query: see `ModelTable.live`.
public struct LivePage<Model: SyncModel>: RandomAccessCollection, Sendable {
    /// The models, in the query's order.
    public let models: [Model]
    /// What differs from the previous page; `nil` on the first page.
    public let changes: LiveChanges?
    /// The number of matching items regardless of offset and limit, if the query includes it.
    public let totalCount: Int?
    /// The items that cannot be read as models: see ``ModelPage/unreadable``.
    public let unreadable: [UnreadableRow]
    let states: [UTF8Text: RowSyncState]

    /// The index of the first model.
    public var startIndex: Int { models.startIndex }

    /// The number of models.
    public var endIndex: Int { models.endIndex }

    /// The model at that index.
    public subscript(index: Int) -> Model { models[index] }

    /// Returns whether the server has the row as it is shown. Only pages of `withSyncStates()`, and of a ``LiveList`` that shows
    /// sync states, know it of their rows; every other row is ``RowSyncState/synced``.
    public func syncState(of id: SyncID<Model>) -> RowSyncState { states[UTF8Text(id.text)] ?? .synced }
}
