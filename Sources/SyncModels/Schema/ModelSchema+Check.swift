// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import SyncCore

extension ModelSchema {
    /// Checks the schema against the properties of the model.
    ///
    /// Every stored property other than the id has one field; every field is of a stored property; every column
    /// has one field and a valid name; options fit the types. ``models(_:_:)`` calls this for each model of a
    /// store.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidTableDefinition`` that lists all problems.
    public func check() throws(SyncError) {
        let problems = problems
        guard problems.isEmpty else {
            throw SyncError(.invalidTableDefinition, problems.joined(separator: "\n"))
        }
    }

    private var problems: [String] {
        unmappedProperties + fields.enumerated().flatMap { problems(of: $1, at: $0) }
    }

    /// The properties without a field. A field of a nested property counts for the whole property.
    private var unmappedProperties: [String] {
        let mapped = Set(fields.compactMap { $0.path.propertyName?.prefix { $0 != "." } } + ["id"])
        return Mirror(reflecting: blank).children.compactMap { $0.label }.filter { !mapped.contains($0[...]) }
            .map { name in
                """
                \(Model.self).\(name) has no field in the schema, so it would not be stored. \
                Add .field("\(name)", \\.\(name)), for which it must be a var, or .transient(\\.\(name)).
                """
            }
    }

    private func problems(of field: Field<Model>, at index: Int) -> [String] {
        var problems: [String] = []
        let property = field.path.qualifiedName
        if isID(field.path) {
            problems.append("\(property) is mapped without a field. Remove the field from the schema.")
        } else if MemoryLayout<Model>.offset(of: field.path) == nil, !field.isTransient {
            let column = field.column.map { " of the column '\($0.name)'" } ?? ""
            problems.append(
                """
                The property\(column) in the schema of \(Model.self) is computed or has observers. \
                Use a stored property without observers.
                """)
        } else if fields[..<index].contains(where: { $0.path == field.path }) {
            problems.append("\(property) has two fields in the schema. Remove one of them.")
        }
        if let column = field.column {
            let other = fields[..<index].first { $0.column?.name.lowercased() == column.name.lowercased() }
            if let other, other.path != field.path {
                problems.append(
                    """
                    \(property) and \(other.path.qualifiedName) have the same column '\(column.name)'. \
                    Give one of them another column.
                    """)
            }
            problems += column.problems(property)
        }
        return problems
    }
}

extension Field {
    fileprivate var column: FieldColumn<Model>? {
        if case .column(let column) = role { column } else { nil }
    }

    fileprivate var isTransient: Bool {
        if case .transient = role { true } else { false }
    }
}

extension FieldColumn {
    fileprivate func problems(_ property: String) -> [String] {
        var problems: [String] = []
        if (SystemProperties.names + ["id"]).contains(where: { $0.lowercased() == name.lowercased() }) {
            problems.append(
                """
                \(property) cannot have the column '\(name)', which the server sets. \
                Show it with .system(_:) and a property of type SystemProperties.
                """)
        } else if !name.isTableOrColumnName {
            problems.append(
                """
                '\(name)', the column of \(property), is not a valid name. \
                Use a letter or underscore, then letters, digits and underscores, at most 128.
                """)
        }
        if options.contains(.required), isOptional {
            problems.append(
                "\(property) is optional and .required. Make the property non-optional, or remove .required.")
        }
        if options.contains([.required, .localOnly]) {
            problems.append(
                """
                \(property) is .required and .localOnly, so that no row of the server could be read. Remove one of the \
                options.
                """)
        }
        if options.contains(.unordered), referredModel == nil {
            problems.append("\(property) is .unordered, and not a SyncID. Remove .unordered.")
        }
        return problems
    }
}
