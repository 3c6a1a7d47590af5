// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import SyncModels

/// A model of the standard app's first table. A column that the device does not declare at the time is `nil`.
struct ObservedModel: SyncModel {
    /// A literal, because a new id would be random.
    var id: SyncID<ObservedModel> = "blank"
    var a: Int64?
    var b: String?
    var stamp: Int64?
    var note: String?

    static let table = "T"
    static let schema = ModelSchema(
        table, ObservedModel(), .field("a", \.a), .field("b", \.b), .field("stamp", \.stamp),
        .field("note", \.note, .localOnly))
}

extension LivePage<ObservedModel> {
    /// Returns why the changes of the page do not lead from the page before to it; `nil` if they do.
    func problem(after previous: [ObserverCheck.Row]?) -> String? {
        guard let previous else {
            return changes == nil ? nil : "The first page of a live query has changes."
        }
        guard let changes else { return nil }
        let left = Set(changes.removed + changes.moved.map(\.from))
        var rows = previous.indices.filter { !left.contains($0) }.map { previous[$0] }
        let added = changes.inserted.map { ($0, ObserverCheck.Row(models[$0])) }
        let moved = changes.moved.map { ($0.to, previous[$0.from]) }
        for (index, row) in (added + moved).sorted(by: { $0.0 < $1.0 }) {
            guard index <= rows.count else {
                return "Changes of a live query name row \(index) of \(rows.count)."
            }
            rows.insert(row, at: index)
        }
        for index in changes.updated {
            guard rows.indices.contains(index) else {
                return "Changes of a live query update row \(index) of \(rows.count)."
            }
            rows[index] = ObserverCheck.Row(models[index])
        }
        let expected = models.map(ObserverCheck.Row.init)
        return rows == expected
            ? nil
            : "Changes of a live query lead to \(rows.map(\.fields)) instead of \(expected.map(\.fields))."
    }
}
