// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import SyncCore

/// The table of a model, and the column of each of its properties.
///
/// ``models(_:_:)`` checks the schemas when a store is opened.
public struct ModelSchema<Model: SyncModel>: Sendable {
    /// The table's name, here and on the server.
    public let name: String
    let blank: Model
    let fields: [Field<Model>]
    let columns: [FieldColumn<Model>]
    let columnNames: [String]
    /// Whether a property shows values that are not fields: system properties or undeclared values.
    let showsSystemProperties: Bool

    /// Declares the table of a model.
    ///
    /// - Parameters:
    ///   - name: the table's name, here and on the server.
    ///   - blank: the values of properties whose columns are null or missing. Its id is not used.
    ///   - fields: a field for each property other than the id.
    public init(_ name: String, _ blank: Model, _ fields: Field<Model>...) {
        self.name = name
        self.blank = blank
        self.fields = fields
        columns = fields.compactMap { field in
            if case .column(let column) = field.role { column } else { nil }
        }
        columnNames = columns.map(\.name)
        showsSystemProperties = fields.contains { field in
            switch field.role {
            case .system, .unknown: true
            case .column, .transient: false
            }
        }
    }

    /// The definition of the table. Its parents are the tables of models that properties refer to by
    /// ``SyncID``, except for the model itself and ``FieldOptions/unordered`` fields.
    public var definition: SyncTableDefinition {
        let columns = columns.map { column in
            SyncColumn(
                column.name, column.type, isIndexed: column.options.contains(.indexed),
                isLocalOnly: column.options.contains(.localOnly))
        }
        var parents: [String] = []
        for parent in parentModels.map({ $0.tableName }) where !parents.contains(parent) {
            parents.append(parent)
        }
        return SyncTableDefinition(name, columns: columns, parents: parents)
    }

    /// The models of the parents, with repetitions. The server does not know references in local-only columns.
    var parentModels: [any SyncModel.Type] {
        columns.filter { $0.options.isDisjoint(with: [.unordered, .localOnly]) }.compactMap(\.referredModel)
            .filter { ObjectIdentifier($0) != ObjectIdentifier(Model.self) }
    }

    /// Returns the field of a property, or `nil`.
    func field(at path: PartialKeyPath<Model>) -> Field<Model>? { fields.first { $0.path == path } }

    /// Whether the path leads to the model's id. The path in the protocol differs from the path in the model. A computed property
    /// may have the id's value, such as the root of a thread, but does not set it.
    func isID(_ path: PartialKeyPath<Model>) -> Bool {
        guard let path = path as? WritableKeyPath<Model, SyncID<Model>> else { return false }
        var probe = blank
        probe[keyPath: path] = SyncID()
        return probe.id != blank.id
    }
}

extension SyncModel {
    /// The name of the model's table.
    static var tableName: String { schema.name }
}
