// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// The properties of a model in the closure of a filter: `Todo.where { !$0.complete && $0.text.contains("eggs") }`.
@dynamicMemberLookup
public struct Terms<Model: SyncModel>: Sendable {
    /// The column of the property. A query that uses a property without a column throws when it runs.
    public subscript<Value: FieldValue>(dynamicMember path: KeyPath<Model, Value>) -> Term<Model, Value> {
        let schema = Model.schema
        guard let reference = schema.columnReference(at: path) else {
            return Term(.constant(.null), unmapped: UnmappedProperty(path))
        }
        var blank: [String: ItemValue]?
        if let column = reference.column, !column.isOptional, !column.options.contains(.required) {
            blank = [column.name: schema.blank[keyPath: path].itemValue]
        }
        return Term(.column(reference.name), blank: blank)
    }

    /// The column of a property of a part: `Place.where { $0(\.address.city) == "Oslo" }`.
    public func callAsFunction<Value: FieldValue>(_ path: KeyPath<Model, Value>) -> Term<Model, Value> {
        self[dynamicMember: path]
    }

    /// The column of the property is null or missing. This is the only condition on a JSON column.
    public func isNull(_ path: PartialKeyPath<Model>) -> Where<Model> {
        guard let reference = Model.schema.columnReference(at: path) else {
            return Where(filter: .always(false), negation: .always(true), unmapped: UnmappedProperty(path))
        }
        return Where(.nullTest(.column(reference.name)))
    }
}

extension ModelSchema {
    /// Returns the column of a property, or `id` or a system property, which have no declaration; `nil` for a property without
    /// a column.
    func columnReference(at path: PartialKeyPath<Model>) -> (name: String, column: FieldColumn<Model>?)? {
        if case .column(let column) = field(at: path)?.role { return (column.name, column) }
        return isID(path) ? ("id", nil) : systemProperty(at: path).map { ($0, nil) }
    }

    /// Returns the system property at the path, if a field shows them.
    private func systemProperty(at path: PartialKeyPath<Model>) -> String? {
        for field in fields {
            guard case .system(let shown) = field.role else { continue }
            let paths: [(PartialKeyPath<Model>, String)] = [
                (shown.appending(path: \.updatedAt), "updatedAt"),
                (shown.appending(path: \.createdAt), "createdAt"),
                (shown.appending(path: \.version), "version"),
            ]
            if let found = paths.first(where: { $0.0 == path }) { return found.1 }
        }
        return nil
    }
}
