// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import SyncCore

extension ModelSchema {
    /// Checks the schema against the properties of the model.
    ///
    /// Every stored property other than the id has one field, or all parts of it have one; every field is of a stored property;
    /// every column has one field and a valid name, and so has the table; options fit the types. Parts of tuples are not
    /// checked. ``models(_:_:)`` calls this for each model of a store.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidTableDefinition`` that lists all problems.
    public func check() throws(SyncError) {
        let problems = problems
        guard problems.isEmpty else {
            throw SyncError(.invalidTableDefinition, problems.joined(separator: "\n"))
        }
    }

    private var problems: [String] {
        invalidTableName + unmappedProperties + fields.enumerated().flatMap { problems(of: $1, at: $0) }
    }

    private var invalidTableName: [String] {
        let table = "'\(name)', the table of \(Model.self),"
        guard name.isTableOrColumnName else { return ["\(table) is not a valid name. \(String.ruleOfNames)"] }
        guard name.isReservedTableName else { return [] }
        return ["\(table) has a name of system tables. Use one that does not begin with 'MS_' or 'sqlite_'."]
    }

    /// The properties without a field.
    private var unmappedProperties: [String] {
        // Key paths do not name properties with observers, which usually have the names of their columns.
        let observed = fields.filter { $0.path.propertyName == nil }.compactMap(\.column?.name)
        let mapped = fields.compactMap { $0.path.propertyName } + observed + ["id"]
        // A transient field of such a property has no column, so that only its type tells which property it may be.
        var unnamed = fields.filter { $0.isTransient && $0.path.propertyName == nil }
            .map { type(of: $0.path as AnyKeyPath).valueType }
        return Self.properties(of: blank, notIn: mapped).compactMap { path, value in
            if let index = unnamed.firstIndex(where: { $0 == type(of: value) }) {
                unnamed.remove(at: index)
                return nil
            }
            let column = path.split(separator: ".").last ?? ""
            return """
                \(Model.self).\(path) has no field in the schema, so it would not be stored. \
                Add .field("\(column)", \\.\(path)), for which it must be a var, or .transient(\\.\(path)).
                """
        }
    }

    /// Returns the paths and values of the properties that are not mapped. If a property of a structure is, all of them must be.
    private static func properties(
        of value: Any, notIn mapped: [String], within path: String = ""
    ) -> [(path: String, value: Any)] {
        Mirror(reflecting: value).children.flatMap { child -> [(path: String, value: Any)] in
            guard let label = child.label else { return [] }
            let path = path + label
            if mapped.contains(path) { return [] }
            guard mapped.contains(where: { $0.hasPrefix(path + ".") }) else { return [(path, child.value)] }
            // Key paths do not name the elements of tuples.
            guard Mirror(reflecting: child.value).displayStyle == .struct else { return [] }
            return properties(of: child.value, notIn: mapped, within: path + ".")
        }
    }

    private func problems(of field: Field<Model>, at index: Int) -> [String] {
        var problems: [String] = []
        let property = field.path.qualifiedName
        if isID(field.path) {
            problems.append(
                "\(property) needs no field, because the id is always mapped. Remove the field from the schema."
            )
        } else if MemoryLayout<Model>.offset(of: field.path) == nil, !field.isTransient {
            let column = field.column.map { " of the column '\($0.name)'" } ?? ""
            problems.append(
                """
                The property\(column) in the schema of \(Model.self) is computed or has observers. \
                Use a stored property without observers.
                """)
        } else if fields[..<index].contains(where: { $0.path == field.path }) {
            problems.append("\(property) has two fields in the schema. Remove one of them.")
        } else if let whole = fields.first(where: { field.isPart(of: $0) }) {
            problems.append(
                "\(property) is a part of \(whole.path.qualifiedName), which has a field. Remove one of them."
            )
        }
        if let column = field.column {
            let other = fields[..<index].first { $0.column?.name.lowercased() == column.name.lowercased() }
            if let other, other.path != field.path {
                let name = other.column?.name ?? column.name
                let columns =
                    name == column.name
                    ? "the same column '\(name)'"
                    : "the columns '\(column.name)' and '\(name)', which differ in case only"
                problems.append(
                    """
                    \(property) and \(other.path.qualifiedName) have \(columns). Give one of them another column.
                    """)
            }
            if !isID(field.path) { problems += column.problems(property) }
        }
        return problems
    }
}

extension String {
    fileprivate static let ruleOfNames =
        "Use a letter or underscore, then letters, digits and underscores, at most 128."
}

extension Field {
    fileprivate var column: FieldColumn<Model>? {
        if case .column(let column) = role { column } else { nil }
    }

    fileprivate var isTransient: Bool {
        if case .transient = role { true } else { false }
    }

    /// Whether both fields store the property. The rest of a structure can be transient.
    fileprivate func isPart(of other: Field) -> Bool {
        guard !isTransient, !other.isTransient, let name = path.propertyName,
            let whole = other.path.propertyName
        else { return false }
        return name.hasPrefix(whole + ".")
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
                '\(name)', the column of \(property), is not a valid name. \(String.ruleOfNames)
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
