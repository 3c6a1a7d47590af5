// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// The error of an item that cannot be read as its model.
struct UnreadableItem: Error {
    let row: UnreadableRow

    init<Model: SyncModel>(
        _ path: PartialKeyPath<Model>, _ column: String, _ value: ItemValue, id: String
    ) {
        let problem = value.isNull ? "is null" : "holds a value that the property cannot hold"
        row = UnreadableRow(
            table: Model.tableName, id: id, column: column,
            reason:
                "\(path.qualifiedName) is .required, and the column '\(column)' of \(Model.self) '\(id)' \(problem). "
                + "Correct the row on the server or with `table.raw`, or remove .required.")
    }

    var syncError: SyncError { SyncError(.invalidItem, row.reason) }
}
