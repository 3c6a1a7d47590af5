// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension Filter {
    /// Returns the filter as the value of `$filter`, before percent-encoding.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/filterNotSupported`` for constants that OData cannot express
    ///   (binary data, lists, objects, NaN, infinities), for names that are not properties, and for nulls outside a null
    ///   test, which match no item here and match items on servers.
    package func odata(_ dialect: WireDialect) throws(SyncError) -> String {
        var printer = ODataPrinter(dialect: dialect)
        return try printer.print(self)
    }
}

/// Prints a filter with an explicit stack, so that deep nesting does not overflow the stack of the thread.
private struct ODataPrinter {
    /// Operator precedence. A part with a lower precedence than required is printed in parentheses.
    private enum Precedence: Int {
        case any, all, condition
        case sum, product, value

        func isLower(than other: Precedence) -> Bool { rawValue < other.rawValue }
    }

    private enum Piece {
        case text(String)
        case filter(Filter, atLeast: Precedence)
        case expression(FilterExpression, atLeast: Precedence)
    }

    let dialect: WireDialect
    private var pending: [Piece] = []
    private var output = ""

    init(dialect: WireDialect) {
        self.dialect = dialect
    }

    mutating func print(_ filter: Filter) throws(SyncError) -> String {
        push([.filter(filter, atLeast: .any)])
        while let piece = pending.popLast() {
            switch piece {
            case .text(let text): output += text
            case .filter(let filter, let precedence): try expand(filter, atLeast: precedence)
            case .expression(let expression, let precedence): try expand(expression, atLeast: precedence)
            }
        }
        return output
    }

    private mutating func push(_ pieces: [Piece]) {
        pending.append(contentsOf: pieces.reversed())
    }

    private mutating func push(_ pieces: [Piece], precedence: Precedence, atLeast required: Precedence) {
        push(precedence.isLower(than: required) ? [.text("(")] + pieces + [.text(")")] : pieces)
    }

    private mutating func expand(_ filter: Filter, atLeast required: Precedence) throws(SyncError) {
        switch filter {
        case .always(let isTrue): push([.text(isTrue ? "(1 eq 1)" : "(1 eq 0)")])
        case .comparison(let comparison, let left, let right):
            let isNullTest = right.isNull && (comparison == .equal || comparison == .notEqual)
            guard !left.isNull, !right.isNull || isNullTest else { throw Self.nullOutsideTest }
            push([
                .expression(left, atLeast: .sum), .text(" \(comparison.rawValue) "),
                right.isNull ? .text("null") : .expression(right, atLeast: .sum),
            ])
        case .nullTest(let expression):
            push([
                expression.isNull ? .text("null") : .expression(expression, atLeast: .sum), .text(" eq null"),
            ])
        case .membership(let expression, let constants):
            guard !constants.contains(where: \.isNull) else { throw Self.nullOutsideTest }
            if let limit = dialect.maxAlternatives, constants.count > limit, case .column = expression,
                constants.allSatisfy(\.isPlainInList)
            {
                var literals: [String] = []
                for constant in constants { literals.append(try dialect.literal(constant)) }
                let list = literals.joined(separator: ",")
                return push([.expression(expression, atLeast: .sum), .text(" in (\(list))")])
            }
            expandChain(
                constants.map { .comparison(.equal, expression, .constant($0)) }, " or ", .any, empty: false,
                atLeast: required)
        case .text(.contains, let text, let part):
            let arguments = dialect.containment.takesPartFirst ? [part, text] : [text, part]
            pushCall(dialect.containment.function, arguments)
        case .text(let test, let text, let part): pushCall(test.rawValue, [text, part])
        case .all(let filters): expandChain(filters, " and ", .all, empty: true, atLeast: required)
        case .any(let filters): expandChain(filters, " or ", .any, empty: false, atLeast: required)
        case .not(let filter): push([.text("not ("), .filter(filter, atLeast: .any), .text(")")])
        }
    }

    private mutating func expandChain(
        _ filters: [Filter], _ separator: String, _ precedence: Precedence, empty: Bool,
        atLeast required: Precedence
    ) {
        switch filters.count {
        case 0: push([.filter(.always(empty), atLeast: required)])
        case 1: push([.filter(filters[0], atLeast: required)])
        default:
            let pieces = filters.map { [Piece.filter($0, atLeast: precedence)] }
            push(
                Array(pieces.joined(separator: [.text(separator)])), precedence: precedence, atLeast: required
            )
        }
    }

    private mutating func expand(_ expression: FilterExpression, atLeast required: Precedence)
        throws(SyncError)
    {
        switch expression {
        case .column(let name): output += try dialect.propertyName(of: name)
        case .constant(.null): throw Self.nullOutsideTest
        case .constant(let value): output += try dialect.literal(value)
        case .call(let function, let arguments): pushCall(function.rawValue, arguments)
        case .arithmetic(let operation, let left, let right):
            let precedence: Precedence = operation == .add || operation == .sub ? .sum : .product
            let operandPrecedence: Precedence = precedence == .sum ? .product : .value
            push(
                [
                    .expression(left, atLeast: precedence), .text(" \(operation.rawValue) "),
                    .expression(right, atLeast: operandPrecedence),
                ], precedence: precedence, atLeast: required)
        }
    }

    private static var nullOutsideTest: SyncError {
        SyncError(
            .filterNotSupported,
            "A query for the server can use null only in a null test. Use Filter.isNull(_:).")
    }

    private mutating func pushCall(_ function: String, _ arguments: [FilterExpression]) {
        let pieces = arguments.map { [Piece.expression($0, atLeast: .sum)] }
        push([.text(function + "(")] + pieces.joined(separator: [.text(",")]) + [.text(")")])
    }
}

extension ItemValue {
    /// Whether all OData parsers read the constant in a list: some fail for empty texts, and for quotes and commas in texts.
    fileprivate var isPlainInList: Bool {
        switch self {
        case .int: true
        case .text(let text):
            !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"'\"(),;".utf8.contains($0) }
        default: false
        }
    }
}

extension FilterExpression {
    fileprivate var isNull: Bool {
        if case .constant(.null) = self { true } else { false }
    }
}
