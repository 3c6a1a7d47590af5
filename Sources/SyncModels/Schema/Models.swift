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
    ///   ``ModelSchema/check()``; two models have the same table; a model is listed twice; a model refers to a model that is
    ///   missing here; the references form a cycle.
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
        let name = Model.tableName
        if let other = models.first(where: { $0 != model && $0.tableName.lowercased() == name.lowercased() })
        {
            let tables =
                other.tableName == name
                ? "the same table '\(name)'. Declare one model of each table."
                : "the tables '\(name)' and '\(other.tableName)', which differ in case only. Rename one of them."
            throw SyncError(.invalidTableDefinition, "\(model) and \(other) have \(tables)")
        }
        guard models.count(where: { $0 == model }) == 1 else {
            throw SyncError(
                .invalidTableDefinition, "\(model) is listed twice in the models. List it once.")
        }
        for field in Model.schema.fields {
            guard case .column(let column) = field.role,
                column.options.isDisjoint(with: [.unordered, .localOnly]), let parent = column.referredModel,
                !models.contains(where: { $0 == parent })
            else { continue }
            throw SyncError(
                .invalidTableDefinition,
                "\(field.path.qualifiedName) refers to \(parent), which the store is opened without. "
                    + "Add \(parent).self to the models, or mark the field .unordered.")
        }
        return Model.schema.definition
    }

    private static func requireAcyclicReferences(_ models: [any SyncModel.Type]) throws(SyncError) {
        let models = models.map { (type: $0, parents: $0.parents.map { ObjectIdentifier($0) }) }
        let cycle = models.cyclic { $0.parents.contains(ObjectIdentifier($1.type)) }
        guard cycle.isEmpty else {
            let names = cycle.map { "\($0.type)" }.sorted().joined(separator: ", ")
            throw SyncError(
                .invalidTableDefinition,
                "The references between \(names) form a cycle, so pushes cannot order them. Mark one of the fields "
                    + ".unordered.")
        }
    }
}

extension SyncModel {
    fileprivate static var parents: [any SyncModel.Type] { schema.parentModels }
}
