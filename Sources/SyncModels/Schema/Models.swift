// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import SyncCore

extension [SyncTableDefinition] {
    /// Returns the table definitions of these models, for the initializer of a store.
    ///
    /// ```swift
    /// let store = try SQLiteStore(path: path, tables: .models(TodoList.self, Todo.self))
    /// ```
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidTableDefinition``: the errors of
    ///   ``ModelSchema/check()``; two models have the same table; a model refers to a model that is missing
    ///   here; the references form a cycle.
    public static func models(
        _ model: any SyncModel.Type, _ others: any SyncModel.Type...
    ) throws(SyncError) -> [SyncTableDefinition] {
        let models = [model] + others
        var definitions: [SyncTableDefinition] = []
        for model in models { definitions.append(try checkedDefinition(of: model, among: models)) }
        try requireAcyclicReferences(models)
        return definitions
    }

    private static func checkedDefinition<Model: SyncModel>(
        of model: Model.Type, among models: [any SyncModel.Type]
    ) throws(SyncError) -> SyncTableDefinition {
        try Model.schema.check()
        if let other = models.first(where: { $0 != model && $0.tableName == Model.tableName }) {
            throw SyncError(
                .invalidTableDefinition,
                "\(model) and \(other) have the same table '\(Model.tableName)'. Declare one model of each table."
            )
        }
        for field in Model.schema.fields {
            guard case .column(let column) = field.role, !column.options.contains(.unordered),
                let parent = column.referredModel, !models.contains(where: { $0 == parent })
            else { continue }
            throw SyncError(
                .invalidTableDefinition,
                "\(field.path.qualifiedName) refers to \(parent), which the store is opened without. "
                    + "Add \(parent).self to the models, or mark the field .unordered.")
        }
        return Model.schema.definition
    }

    /// Removes models whose parents are all removed, until none is left.
    private static func requireAcyclicReferences(_ models: [any SyncModel.Type]) throws(SyncError) {
        var remaining = models
        while !remaining.isEmpty {
            let next = remaining.filter { model in
                model.parents.contains { parent in remaining.contains { $0 == parent } }
            }
            guard next.count < remaining.count else {
                let names = next.map { "\($0)" }.sorted().joined(separator: ", ")
                throw SyncError(
                    .invalidTableDefinition,
                    "The references between \(names) form a cycle, so pushes cannot order them. Mark one of the fields "
                        + ".unordered.")
            }
            remaining = next
        }
    }
}

extension SyncModel {
    fileprivate static var parents: [any SyncModel.Type] { schema.parentModels }
}
