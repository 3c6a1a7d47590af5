// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension TableQuery {
    /// Validates the query against the table's definition, so that stores can rely on it.
    ///
    /// The query names declared columns only, compares values of one type (integers and doubles are one type), orders by
    /// columns that have an order, and its offset and limit are not negative.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/filterNotSupported`` or
    ///   ``SyncError/Code/invalidParameter``.
    @_spi(StoreAuthor) public func validate(against definition: SyncTableDefinition) throws(SyncError) {
        try validateWindow()
        for name in selection where name != "id" && definition.type(ofColumn: name) == nil {
            throw .unknownColumn(name, in: definition)
        }
        let typing = FilterTyping(definition: definition)
        if let filter { try typing.check(filter) }
        for ordering in orderings {
            _ = try ordering.requiredColumn
            let kind = try typing.type(of: ordering.expression)
            guard kind != .json else {
                throw SyncError(
                    .filterNotSupported,
                    "A query on '\(definition.name)' cannot be ordered by "
                        + "\(typing.description(of: ordering.expression, kind)).")
            }
        }
    }
}

extension TableQuery {
    /// Validates that the offset and the limit are not negative.
    func validateWindow() throws(SyncError) {
        guard offset >= 0 else { throw .invalidParameter("The offset \(offset) is negative.") }
        if let limit, limit < 0 { throw .invalidParameter("The limit \(limit) is negative.") }
    }

    /// Validates that the query is one of this table.
    func require(table name: String) throws(SyncError) {
        guard table.hasSameBytes(as: name) else {
            throw .invalidParameter("A query of the table '\(table)' cannot run on the table '\(name)'.")
        }
    }
}

extension Ordering {
    /// The column of the ordering.
    ///
    /// - Throws: ``SyncError/Code/filterNotSupported`` if it is another expression.
    var requiredColumn: String {
        get throws(SyncError) {
            guard case .column(let column) = expression else {
                throw SyncError(
                    .filterNotSupported, "A query can be ordered by columns only, not by expressions.")
            }
            return column
        }
    }
}

/// The type checker of filters.
private struct FilterTyping {
    let definition: SyncTableDefinition

    /// The type of a value; `null` can be compared with every type.
    enum Kind: String { case null, bool, integer, double, text, date, data, json }

    /// The maximum nesting, which bounds the stack of an evaluation.
    static let maxDepth = 1000

    func check(_ filter: Filter, depth: Int = 0) throws(SyncError) {
        guard depth <= Self.maxDepth else {
            throw SyncError(
                .filterNotSupported, "A filter cannot be nested deeper than \(Self.maxDepth) levels.")
        }
        switch filter {
        case .always: break
        case .comparison(_, let left, let right):
            try requireComparable(left, try type(of: left), right, try type(of: right))
        case .nullTest(let expression): _ = try type(of: expression)
        case .membership(let expression, let constants):
            let kind = try type(of: expression)
            for constant in constants.map(FilterExpression.constant) {
                try requireComparable(expression, kind, constant, try type(of: constant))
            }
        case .text(_, let text, let part):
            for operand in [text, part] {
                try require(operand, try type(of: operand), in: [.text], what: "A text test")
            }
        case .all(let filters), .any(let filters):
            for filter in filters { try check(filter, depth: depth + 1) }
        case .not(let filter): try check(filter, depth: depth + 1)
        }
    }

    func type(of expression: FilterExpression, depth: Int = 0) throws(SyncError) -> Kind {
        guard depth <= Self.maxDepth else {
            throw SyncError(
                .filterNotSupported, "An expression cannot be nested deeper than \(Self.maxDepth) levels.")
        }
        switch expression {
        case .column(let name):
            guard let type = definition.type(ofColumn: name), let kind = Kind(rawValue: type.rawValue) else {
                throw .unknownColumn(name, in: definition)
            }
            return kind
        case .constant(let value):
            return try type(of: value)
        case .arithmetic(let operation, let left, let right):
            var result = Kind.integer
            for operand in [left, right] {
                let kind = try type(of: operand, depth: depth + 1)
                try require(
                    operand, kind, in: operation == .mod ? [.integer] : [.integer, .double],
                    what: "'\(operation.rawValue)'")
                if kind == .double { result = .double }
            }
            return result
        case .call(let function, let arguments):
            guard arguments.count == function.arity else {
                throw SyncError(
                    .filterNotSupported, "'\(function.rawValue)' takes \(function.arity) argument(s).")
            }
            var kind = Kind.null
            for argument in arguments {
                kind = try type(of: argument, depth: depth + 1)
                try require(argument, kind, in: function.argumentKinds, what: "'\(function.rawValue)'")
            }
            return function.resultKind ?? kind
        }
    }

    private func type(of constant: ItemValue) throws(SyncError) -> Kind {
        switch constant {
        case .null: return .null
        case .bool: return .bool
        case .int: return .integer
        case .double(let value):
            guard value.isFinite else {
                throw SyncError(.filterNotSupported, "A filter cannot compare with \(value).")
            }
            return .double
        case .text: return .text
        case .date: return .date
        case .data: return .data
        case .array, .object:
            throw SyncError(.filterNotSupported, "A filter cannot compare with a list or an object.")
        }
    }

    private func requireComparable(
        _ left: FilterExpression, _ leftKind: Kind, _ right: FilterExpression, _ rightKind: Kind
    ) throws(SyncError) {
        let numbers: Set<Kind> = [.integer, .double]
        if leftKind == .null || rightKind == .null { return }
        guard leftKind != .json, leftKind == rightKind || numbers.isSuperset(of: [leftKind, rightKind]) else {
            let remedy = [leftKind, rightKind].contains(.json) ? " JSON can only be tested for null." : ""
            throw SyncError(
                .filterNotSupported,
                "A filter on '\(definition.name)' cannot compare \(description(of: left, leftKind)) "
                    + "with \(description(of: right, rightKind)).\(remedy)")
        }
    }

    private func require(
        _ operand: FilterExpression, _ kind: Kind, in allowed: [Kind], what: String
    ) throws(SyncError) {
        guard kind == .null || allowed.contains(kind) else {
            let names = allowed.map(\.rawValue).joined(separator: " or ")
            throw SyncError(
                .filterNotSupported,
                "\(what) in a filter on '\(definition.name)' takes \(names), "
                    + "not \(description(of: operand, kind)).")
        }
    }

    /// Describes an operand for an error: a column by its name, and others without their values.
    func description(of operand: FilterExpression, _ kind: Kind) -> String {
        switch operand {
        case .column(let name): "the column '\(name)' of type \(kind)"
        case .constant: "a constant of type \(kind)"
        case .arithmetic, .call: "an expression of type \(kind)"
        }
    }
}

extension FilterExpression.Function {
    fileprivate var argumentKinds: [FilterTyping.Kind] {
        switch self {
        case .tolower, .toupper, .trim, .concat, .length, .indexof: [.text]
        case .year, .month, .day, .hour, .minute, .second: [.date]
        case .round, .floor, .ceiling: [.integer, .double]
        }
    }

    /// The type of the result; `nil` if it is the type of the argument.
    fileprivate var resultKind: FilterTyping.Kind? {
        switch self {
        case .tolower, .toupper, .trim, .concat: .text
        case .length, .indexof, .year, .month, .day, .hour, .minute, .second: .integer
        case .round, .floor, .ceiling: nil
        }
    }
}

extension SyncError {
    static func invalidParameter(_ message: String) -> SyncError { SyncError(.invalidParameter, message) }

    static func unknownColumn(_ name: String, in definition: SyncTableDefinition) -> SyncError {
        let known = ["id"] + definition.columns.map(\.name) + SystemProperties.names
        let list = known.map { "'\($0)'" }.joined(separator: ", ")
        return SyncError(
            .filterNotSupported, "The table '\(definition.name)' has no column '\(name)'. It has \(list).")
    }
}
