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
        guard offset >= 0 else { throw .invalidParameter("The offset \(offset) is negative.") }
        if let limit, limit < 0 { throw .invalidParameter("The limit \(limit) is negative.") }
        for name in selection where name != "id" && definition.type(ofColumn: name) == nil {
            throw .unknownColumn(name, in: definition)
        }
        let typing = FilterTyping(definition: definition)
        if let filter { try typing.check(filter) }
        for ordering in orderings {
            guard case .column = ordering.expression else {
                throw SyncError(
                    .filterNotSupported, "A query can be ordered by columns only, not by expressions.")
            }
            let kind = try typing.type(of: ordering.expression)
            guard kind != .json else {
                throw SyncError(.filterNotSupported, "A query cannot be ordered by a JSON column.")
            }
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
            try requireComparable(try type(of: left), try type(of: right))
        case .nullTest(let expression): _ = try type(of: expression)
        case .membership(let expression, let constants):
            let kind = try type(of: expression)
            for constant in constants { try requireComparable(kind, try type(of: .constant(constant))) }
        case .text(_, let text, let part):
            try require(try type(of: text), in: [.text], what: "A text test")
            try require(try type(of: part), in: [.text], what: "A text test")
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
            let kinds = [try type(of: left, depth: depth + 1), try type(of: right, depth: depth + 1)]
            for kind in kinds {
                try require(
                    kind, in: operation == .mod ? [.integer] : [.integer, .double],
                    what: "'\(operation.rawValue)'")
            }
            return kinds.contains(.double) ? .double : .integer
        case .call(let function, let arguments):
            guard arguments.count == function.arity else {
                throw SyncError(
                    .filterNotSupported, "'\(function.rawValue)' takes \(function.arity) argument(s).")
            }
            var kind = Kind.null
            for argument in arguments {
                kind = try type(of: argument, depth: depth + 1)
                try require(kind, in: function.argumentKinds, what: "'\(function.rawValue)'")
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
        case .array, .object: return .json
        }
    }

    private func requireComparable(_ left: Kind, _ right: Kind) throws(SyncError) {
        let numbers: Set<Kind> = [.integer, .double]
        if left == .null || right == .null { return }
        guard left != .json, left == right || (numbers.contains(left) && numbers.contains(right)) else {
            throw SyncError(
                .filterNotSupported,
                "A filter on '\(definition.name)' compares \(left.rawValue) with \(right.rawValue).")
        }
    }

    private func require(_ kind: Kind, in allowed: [Kind], what: String) throws(SyncError) {
        guard kind == .null || allowed.contains(kind) else {
            let names = allowed.map(\.rawValue).joined(separator: " or ")
            throw SyncError(
                .filterNotSupported,
                "\(what) in a filter on '\(definition.name)' takes \(names), not \(kind.rawValue).")
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
        SyncError(.filterNotSupported, "The table '\(definition.name)' has no column '\(name)'.")
    }
}
