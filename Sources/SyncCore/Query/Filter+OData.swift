// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension Filter {
    /// The filter as the value of `$filter`, not yet percent-encoded.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/filterNotSupported`` for constants that OData cannot express
    ///   (binary data, lists, objects, NaN, infinities), for names that are no properties, and for nulls anywhere
    ///   but in a null test: what they match here, nothing, is not what servers take them for.
    package func odata(_ dialect: WireDialect) throws(SyncError) -> String {
        var printer = ODataPrinter(dialect: dialect)
        return try printer.print(self)
    }
}

/// Prints a filter. What is still to be printed is on a stack of its own, so no depth of nesting can exhaust the
/// thread's.
private struct ODataPrinter {
    /// How tightly a part binds; one that binds less tightly than its place asks for gets parentheses.
    private enum Binding: Int {
        case any, all, condition
        case sum, product, value

        func isLooser(than other: Binding) -> Bool { rawValue < other.rawValue }
    }

    private enum Piece {
        case text(String)
        case filter(Filter, atLeast: Binding)
        case expression(FilterExpression, atLeast: Binding)
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
            case .filter(let filter, let binding): try expand(filter, atLeast: binding)
            case .expression(let expression, let binding): try expand(expression, atLeast: binding)
            }
        }
        return output
    }

    private mutating func push(_ pieces: [Piece]) {
        pending.append(contentsOf: pieces.reversed())
    }

    private mutating func push(_ pieces: [Piece], binding: Binding, atLeast required: Binding) {
        push(binding.isLooser(than: required) ? [.text("(")] + pieces + [.text(")")] : pieces)
    }

    private mutating func expand(_ filter: Filter, atLeast required: Binding) throws(SyncError) {
        switch filter {
        case .always(let isTrue): push([.text(isTrue ? "(1 eq 1)" : "(1 eq 0)")])
        case .comparison(let comparison, let left, let right):
            let isNullTest = right.isNull && (comparison == .equal || comparison == .notEqual)
            guard !left.isNull, !right.isNull || isNullTest else { throw Self.nullOutsideTest }
            push([
                .expression(left, atLeast: .sum), .text(" \(comparison.rawValue) "),
                .expression(right, atLeast: .sum),
            ])
        case .nullTest(let expression): push([.expression(expression, atLeast: .sum), .text(" eq null")])
        case .membership(let expression, let constants):
            guard !constants.contains(where: \.isNull) else { throw Self.nullOutsideTest }
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
        _ filters: [Filter], _ separator: String, _ binding: Binding, empty: Bool, atLeast required: Binding
    ) {
        switch filters.count {
        case 0: push([.filter(.always(empty), atLeast: required)])
        case 1: push([.filter(filters[0], atLeast: required)])
        default:
            let pieces = filters.map { [Piece.filter($0, atLeast: binding)] }
            push(Array(pieces.joined(separator: [.text(separator)])), binding: binding, atLeast: required)
        }
    }

    private mutating func expand(_ expression: FilterExpression, atLeast required: Binding) throws(SyncError)
    {
        switch expression {
        case .column(let name): output += try dialect.propertyName(of: name)
        case .constant(let value): output += try dialect.literal(value)
        case .call(let function, let arguments): pushCall(function.rawValue, arguments)
        case .arithmetic(let operation, let left, let right):
            let binding: Binding = operation == .add || operation == .sub ? .sum : .product
            let tighter: Binding = binding == .sum ? .product : .value
            push(
                [
                    .expression(left, atLeast: binding), .text(" \(operation.rawValue) "),
                    .expression(right, atLeast: tighter),
                ], binding: binding, atLeast: required)
        }
    }

    private static var nullOutsideTest: SyncError {
        SyncError(.filterNotSupported, "A query can compare with null only to test for it: use isNull.")
    }

    private mutating func pushCall(_ function: String, _ arguments: [FilterExpression]) {
        let pieces = arguments.map { [Piece.expression($0, atLeast: .sum)] }
        push([.text(function + "(")] + pieces.joined(separator: [.text(",")]) + [.text(")")])
    }
}

extension FilterExpression {
    fileprivate var isNull: Bool {
        if case .constant(.null) = self { true } else { false }
    }
}
