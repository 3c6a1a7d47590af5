// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// Parses a `$filter` of OData v3, or of OData v4 in dialect v3, by recursive descent with operator precedence.
///
/// A chain of `and` or `or` is one node, so that a long list of alternatives is not deep. Other nesting and chains of
/// other operators count towards ``maxDepth``.
struct ODataParser {
    private var lexer: ODataLexer
    private var token: ODataToken = .end
    private var depth = 0
    /// The height of the expression that was parsed last: a chain in parentheses can be the first operand of another chain.
    private var height = 0
    private var concatenationCount = 0
    private var tokenCount = 0
    private let columns: ColumnNames
    private let dialect: TableServer.Dialect

    /// The maximum nesting depth; it bounds the use of the stack.
    static let maxDepth = 100
    /// The maximum height of an expression, which is evaluated recursively: a chain of `and` in one of `or` adds two levels for
    /// each pair of parentheses.
    private static let maxHeight = 2 * maxDepth
    /// The maximum number of names, values and signs. Each can become an argument of the statement, and databases limit their number.
    static let maxTokens = 15_000
    /// The maximum number of calls of `concat`; it bounds the length of a computed text.
    static let maxConcatenations = 50

    /// Parses a filter for a table with these columns.
    static func parse(
        _ filter: String, columns: ColumnNames, _ dialect: TableServer.Dialect = .v2
    ) throws(ODataError) -> ODataExpression {
        var parser = ODataParser(lexer: ODataLexer(filter, dialect), columns: columns, dialect: dialect)
        try parser.advance()
        let expression = try parser.parseExpression()
        try parser.requireCondition(expression)
        guard parser.token == .end else {
            throw parser.lexer.error("expected the end, found \(parser.token.description)")
        }
        return expression
    }

    private init(lexer: ODataLexer, columns: ColumnNames, dialect: TableServer.Dialect) {
        self.lexer = lexer
        self.columns = columns
        self.dialect = dialect
    }

    private mutating func advance() throws(ODataError) {
        tokenCount += 1
        guard tokenCount <= Self.maxTokens else {
            throw lexer.error("the filter has more than \(Self.maxTokens) names, values and signs")
        }
        token = try lexer.next()
    }

    private func requireCondition(_ expression: ODataExpression) throws(ODataError) {
        guard expression.canBeCondition else { throw lexer.error("expected a condition, found a value") }
    }

    private mutating func descend() throws(ODataError) {
        depth += 1
        if depth > Self.maxDepth { throw tooDeep }
    }

    /// Records the height of an expression.
    private mutating func rise(to newHeight: Int) throws(ODataError) {
        height = newHeight
        if height > Self.maxHeight { throw tooDeep }
    }

    private var tooDeep: ODataError {
        lexer.error("the filter is nested deeper than \(Self.maxDepth) levels")
    }

    /// Parses operands and operators of at least this precedence.
    private mutating func parseExpression(_ precedence: Int = 1) throws(ODataError) -> ODataExpression {
        let startDepth = depth
        var left = try parseUnary()
        var leftHeight = height
        while case .name(let name) = token, let infix = ODataInfix(name, dialect),
            infix.precedence >= precedence
        {
            try advance()
            if case .membership = infix {
                left = try parseList(of: left)
                leftHeight += 2
                try rise(to: leftHeight)
                continue
            }
            try descend()
            let right = try parseExpression(infix.precedence + 1)
            // An operand of a chain does not make it higher.
            let isChained = infix.isFlat && left.isChain(of: infix)
            leftHeight = max(isChained ? leftHeight : leftHeight + 1, height + 1)
            try rise(to: leftHeight)
            switch infix {
            case .or: try append(right, to: &left, as: ODataExpression.any, parts: \.alternatives)
            case .and: try append(right, to: &left, as: ODataExpression.all, parts: \.conjuncts)
            case .comparison(let comparison): left = .comparison(comparison, left, right)
            case .arithmetic(let arithmetic): left = .arithmetic(arithmetic, left, right)
            case .membership: break
            }
            if infix.isFlat { depth -= 1 }
        }
        depth = startDepth
        height = leftHeight
        return left
    }

    /// Parses the values of `in`.
    ///
    /// - Returns: the comparisons of the column with the values.
    private mutating func parseList(of column: ODataExpression) throws(ODataError) -> ODataExpression {
        // Another operand would be repeated in the statement for each value.
        guard case .column = column else { throw lexer.error("expected a column before 'in'") }
        guard token == .open else { throw lexer.error("expected '(', found \(token.description)") }
        var comparisons: [ODataExpression] = []
        repeat {
            try advance()
            let value = try parseUnary()
            guard case .literal = value else { throw lexer.error("expected a constant in the list of 'in'") }
            comparisons.append(.comparison(.eq, column, value))
        } while token == .comma
        try expectClose()
        return .any(comparisons)
    }

    /// Appends an operand to a chain of `and` or `or`.
    private func append(
        _ operand: ODataExpression, to chain: inout ODataExpression,
        as node: ([ODataExpression]) -> ODataExpression, parts: (ODataExpression) -> [ODataExpression]
    ) throws(ODataError) {
        try requireCondition(chain)
        try requireCondition(operand)
        var parts = parts(chain)
        // The chain no longer shares its parts, so that they are not copied for each operand.
        chain = .literal(.null)
        parts.append(operand)
        chain = node(parts)
    }

    private mutating func parseUnary() throws(ODataError) -> ODataExpression {
        switch token {
        case .minus:
            let isNumber = lexer.isAtDigit
            try advance()
            if isNumber { return try parseNumber(sign: "-") }
            try descend()
            defer { depth -= 1 }
            let operand = try parseUnary()
            try rise(to: height + 1)
            return .negative(operand)
        case .name("not"):
            try advance()
            try descend()
            defer { depth -= 1 }
            let operand = try parseUnary()
            try requireCondition(operand)
            try rise(to: height + 1)
            return .not(operand)
        default:
            return try parsePrimary()
        }
    }

    private mutating func parsePrimary() throws(ODataError) -> ODataExpression {
        height = 1
        switch token {
        case .open:
            try advance()
            try descend()
            let expression = try parseExpression()
            depth -= 1
            try expectClose()
            return expression
        case .literal(let value):
            try advance()
            return .literal(value)
        case .number:
            return try parseNumber(sign: "")
        case .name(let name):
            try advance()
            return try token == .open ? parseCall(name) : constantOrColumn(name)
        case .close, .comma, .minus, .end:
            throw lexer.error("expected a value, found \(token.description)")
        }
    }

    private mutating func expectClose() throws(ODataError) {
        guard token == .close else { throw lexer.error("expected ')', found \(token.description)") }
        try advance()
    }

    private func constantOrColumn(_ name: String) -> ODataExpression {
        switch name {
        case "true": .literal(true)
        case "false": .literal(false)
        case "null": .literal(.null)
        default: .column(ODataColumn(name, in: columns, dialect))
        }
    }

    private mutating func parseCall(_ name: String) throws(ODataError) -> ODataExpression {
        if name == "cast", dialect == .v3 { return try parseCast() }
        guard let function = ODataFunction(rawValue: name), function.exists(in: dialect) else {
            throw lexer.error("the function '\(name)' does not exist")
        }
        if function == .concat {
            concatenationCount += 1
            guard concatenationCount <= Self.maxConcatenations else {
                throw lexer.error("the filter calls 'concat' more than \(Self.maxConcatenations) times")
            }
        }
        try descend()
        defer { depth -= 1 }
        var (arguments, argumentHeight): ([ODataExpression], Int) = ([], 0)
        repeat {
            try advance()
            arguments.append(try parseExpression())
            argumentHeight = max(argumentHeight, height)
        } while token == .comma
        try rise(to: argumentHeight + 1)
        let count = function.parameterCount
        guard arguments.count == count else {
            throw lexer.error("'\(name)' takes \(count) argument\(count == 1 ? "" : "s")")
        }
        try expectClose()
        return .call(function, arguments)
    }

    /// Parses the arguments of `cast`: a date and its type.
    private mutating func parseCast() throws(ODataError) -> ODataExpression {
        try advance()
        guard case .literal(.date(let date)) = token else {
            throw lexer.error("expected a date, found \(token.description)")
        }
        try advance()
        guard token == .comma else { throw lexer.error("expected ',', found \(token.description)") }
        try advance()
        guard token == .name("Edm.DateTimeOffset") else {
            throw lexer.error("expected the type Edm.DateTimeOffset, found \(token.description)")
        }
        try advance()
        try expectClose()
        return .literal(.date(date))
    }

    private mutating func parseNumber(sign: String) throws(ODataError) -> ODataExpression {
        guard case .number(let digits, let kind) = token else { throw lexer.error("expected a number") }
        if kind != .double, let integer = Int64(sign + digits) {
            try advance()
            return .literal(.int(integer))
        }
        guard kind != .integer, let double = Double(sign + digits), double.isFinite else {
            throw lexer.error("'\(sign)\(digits)' is out of range")
        }
        try advance()
        return .literal(.double(double))
    }
}

/// A binary operator.
private enum ODataInfix {
    case or, and
    case comparison(ODataExpression.Comparison)
    case arithmetic(ODataExpression.Arithmetic)
    /// `in`, which OData v3 does not have.
    case membership

    init?(_ name: String, _ dialect: TableServer.Dialect) {
        if name == "or" {
            self = .or
        } else if name == "in", dialect == .v3 {
            self = .membership
        } else if name == "and" {
            self = .and
        } else if let comparison = ODataExpression.Comparison(rawValue: name) {
            self = .comparison(comparison)
        } else if let arithmetic = ODataExpression.Arithmetic(rawValue: name) {
            self = .arithmetic(arithmetic)
        } else {
            return nil
        }
    }

    /// Operators with a higher precedence bind tighter.
    var precedence: Int {
        switch self {
        case .or: 1
        case .and: 2
        case .comparison(.eq), .comparison(.ne): 3
        case .comparison, .membership: 4
        case .arithmetic(.add), .arithmetic(.sub): 5
        case .arithmetic: 6
        }
    }

    /// Whether a chain of this operator is one node of the expression.
    var isFlat: Bool {
        switch self {
        case .or, .and: true
        case .comparison, .arithmetic, .membership: false
        }
    }
}

extension ODataExpression {
    fileprivate func isChain(of infix: ODataInfix) -> Bool {
        switch (infix, self) {
        case (.or, .any), (.and, .all): true
        default: false
        }
    }

    fileprivate var alternatives: [ODataExpression] {
        if case .any(let parts) = self { parts } else { [self] }
    }

    fileprivate var conjuncts: [ODataExpression] {
        if case .all(let parts) = self { parts } else { [self] }
    }
}
