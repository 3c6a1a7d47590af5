// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import SyncCore

/// The result of a ``ModelQuery``.
public struct ModelPage<Model: SyncModel>: Sendable {
    /// The models, in the query's order.
    public let models: [Model]
    /// The number of matching items regardless of offset and limit, if the query includes it.
    public let totalCount: Int?
    /// The items that cannot be read as models, because a ``FieldOptions/required`` column is null or holds a
    /// value that its property cannot hold.
    public let unreadable: [UnreadableRow]

    /// Decodes the rows that `forEachRow` calls its body with; it returns the total count.
    init(_ forEachRow: ((RowValues) -> Void) throws -> Int?) rethrows {
        var (models, unreadable): ([Model], [UnreadableRow]) = ([], [])
        let schema = Model.schema
        totalCount = try forEachRow { row in
            do throws(UnreadableItem) {
                models.append(try schema.decode(row))
            } catch {
                unreadable.append(error.row)
            }
        }
        self.models = models
        self.unreadable = unreadable
    }
}
