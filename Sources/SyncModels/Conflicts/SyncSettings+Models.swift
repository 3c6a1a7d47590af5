// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import SyncCore

/// How to resolve a conflict of models.
public enum ModelDecision<Model: SyncModel>: Sendable {
    /// Sends the device's change again, overwriting the server's row in the state shown, and no later one.
    case keepMine
    /// Stores the server's row, or removes the item if the server has none, and removes the operation.
    case keepTheirs
    /// Stores and sends this model, overwriting the server's row in the state shown. A column that the model does not have
    /// keeps the device's change, unless the server has changed it too. Where the server has a value that the property cannot
    /// hold, such as an unknown enum case, a property that is as on the device sends the device's change.
    /// `resolveByField` can keep such a value.
    case merge(Model)
    /// Changes nothing: the operation stays pending, with its error.
    case keepPending
}

extension SyncSettings {
    /// Resolves conflicts of a model with the app's own rule.
    ///
    /// If a side of the conflict is unreadable, the operation stays pending with an error.
    ///
    /// - Parameters:
    ///   - model: the model.
    ///   - decide: returns the decision. It may suspend, and nothing else is synced until it returns: return when the task is
    ///     cancelled. To ask the user, return ``ModelDecision/keepPending``, and decide later with
    ///     ``ModelTable/resolve(_:_:)``. An error that it throws becomes the operation's error.
    public mutating func resolve<Model: SyncModel>(
        _ model: Model.Type,
        _ decide: @escaping @Sendable (ModelConflict<Model>) async throws -> ModelDecision<Model>
    ) {
        resolvers[Model.tableName] = ConflictResolver(combining: Model.schema.combinedColumns) { conflict in
            let conflict = try ModelConflict<Model>(conflict)
            return switch try await decide(conflict) {
            case .keepMine: .keepClient
            case .keepTheirs: .keepServer
            case .merge(let model): .merge(try conflict.item(merging: model))
            case .keepPending: .keepPending
            }
        }
    }

    /// Resolves conflicts of these models by fields: keeps each change that only one side made, and combines
    /// the changes of both sides as the policies of their fields say.
    ///
    /// - Parameters:
    ///   - models: the models.
    ///   - rule: what to do with fields without policy that clash, also of columns that the model does not have. Its
    ///     ``ConflictDecision/keepServer`` and ``ConflictDecision/keepClient`` apply to those fields only, any other decision
    ///     to the whole item. If one side deleted the item, every decision applies to the whole item.
    public mutating func resolveByField(
        _ models: any SyncModel.Type..., onClash rule: ConflictResolver = .serverWins
    ) {
        for model in models { resolvers[model.tableName] = .mergingFields(of: model, onClash: rule) }
    }
}

extension ConflictResolver {
    fileprivate static func mergingFields<Model: SyncModel>(
        of model: Model.Type, onClash rule: ConflictResolver
    ) -> ConflictResolver {
        ConflictResolver(combining: Model.schema.combinedColumns) { raw in
            let conflict = try ModelConflict<Model>(raw)
            var side = ConflictSide.theirs
            if conflict.mine == nil || conflict.theirs == nil || conflict.hasClashWithoutPolicy {
                let decision = try await rule.resolve(raw)
                guard decision == .keepServer || decision == .keepClient else { return decision }
                guard conflict.mine != nil, conflict.theirs != nil else { return decision }
                side = decision == .keepClient ? .mine : .theirs
            }
            guard let merged = try conflict.mergedItem(preferring: side) else { return .keepPending }
            return .merge(merged)
        }
    }
}

extension ModelSchema {
    /// The columns whose changes on both sides a policy combines.
    fileprivate var combinedColumns: Set<String> { Set(columns.filter { $0.merge != nil }.map(\.name)) }
}
