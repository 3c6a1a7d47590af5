// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// A property that a query uses, and that has no column.
struct UnmappedProperty: Sendable, Hashable {
    let name: String
    let model: String

    init<Model: SyncModel>(_ path: PartialKeyPath<Model>) {
        name = path.qualifiedName
        model = "\(Model.self)"
    }

    var error: SyncError {
        SyncError(
            .filterNotSupported,
            "A query of \(model) uses \(name), which has no column. "
                + "Add a field to the schema, or filter the fetched models."
        )
    }
}
