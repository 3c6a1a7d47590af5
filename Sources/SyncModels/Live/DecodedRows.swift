// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

@_spi(StoreAuthor) import SyncCore

/// The rows of a live query, decoded; rows that have not changed keep the model of the result before.
struct DecodedRows<Model: SyncModel>: Sendable {
    private let ids: [UTF8Text]
    private let models: [UTF8Text: Model]
    private let unreadable: [UnreadableRow]
    private let totalCount: Int?
    private let states: [UTF8Text: RowSyncState]

    init(
        _ result: QueryResult, _ states: [UTF8Text: RowSyncState], after previous: DecodedRows?,
        changed: Set<UTF8Text>
    ) {
        self.states = states
        let schema = Model.schema
        var (ids, models): ([UTF8Text], [UTF8Text: Model]) = ([], [:])
        var unreadable: [UnreadableRow] = []
        ids.reserveCapacity(result.items.count)
        models.reserveCapacity(result.items.count)
        for item in result.items {
            let id = UTF8Text(item.id)
            do throws(UnreadableItem) {
                let unchanged = changed.contains(id) ? nil : previous?.models[id]
                if let unchanged { models[id] = unchanged } else { models[id] = try schema.decode(item) }
                ids.append(id)
            } catch {
                unreadable.append(error.row)
            }
        }
        (self.ids, self.models, self.unreadable, totalCount) = (ids, models, unreadable, result.totalCount)
    }

    func page(after previous: DecodedRows?, changed: Set<UTF8Text>) -> LivePage<Model> {
        LivePage(
            models: ids.compactMap { models[$0] },
            changes: previous.map { previous in
                let withOtherState = ids.filter { states[$0] != previous.states[$0] }
                return LiveChanges(
                    from: previous.ids, to: ids, changed: changed.union(withOtherState))
            },
            totalCount: totalCount, unreadable: unreadable, states: states)
    }
}
