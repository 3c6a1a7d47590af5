// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A filter prepared for the rows of a scan.
///
/// Each column has a position, at which a row finds it without comparing names. All tests of a column that must hold
/// together are made with one look at its value. For one query: it remembers where the last row had its columns.
@usableFromInline package struct PreparedFilter {
    /// The fields that the filter reads: the column of each position.
    package let columns: [String]
    /// Conditions that must hold, which are tested first.
    @usableFromInline let conditions: [ColumnCondition]
    /// What must hold besides.
    @usableFromInline let others: [Node]

    @usableFromInline indirect enum Node {
        case column(ColumnCondition)
        /// Calls functions, compares two columns, or reads the id or a system property.
        case general(Filter)
        case all([Node])
        case any([Node])
        case not(Node)
    }

    /// - Parameter filter: `nil` matches all rows.
    package init(_ filter: Filter?) {
        var columns: [String] = []
        let filters = if case .all(let filters) = filter { filters } else { filter.map { [$0] } ?? [] }
        (conditions, others) = Self.parts(of: filters, &columns)
        self.columns = columns
    }

    /// Whether the row matches: the same as ``Filter/matches(_:)``.
    @inlinable package func matches<Row: ScannedRow>(_ row: Row) throws(Row.Failure) -> Bool {
        // Indices, because an iterator would count references for each row.
        for index in conditions.indices {
            guard try row.truth(of: conditions[index]) == true else { return false }
        }
        for index in others.indices {
            guard try Self.truth(others[index], row) == true else { return false }
        }
        return true
    }

    @usableFromInline static func truth<Row: ScannedRow>(_ node: Node, _ row: Row) throws(Row.Failure)
        -> Bool?
    {
        switch node {
        case .column(let condition): try row.truth(of: condition)
        case .general(let filter): try filter.truth(for: row)
        case .all(let nodes):
            try Filter.fold(nodes, stopAt: false) { node throws(Row.Failure) in try truth(node, row) }
        case .any(let nodes):
            try Filter.fold(nodes, stopAt: true) { node throws(Row.Failure) in try truth(node, row) }
        case .not(let node): try truth(node, row).map { !$0 }
        }
    }

    private static func node(_ filter: Filter, _ columns: inout [String]) -> Node {
        if let (name, test) = ColumnTest.make(filter) {
            return .column(ColumnCondition(on: name, at: position(of: name, &columns), [test]))
        }
        switch filter {
        case .all(let filters):
            let (conditions, others) = parts(of: filters, &columns)
            return .all(conditions.map(Node.column) + others)
        case .any(let filters): return .any(filters.map { node($0, &columns) })
        case .not(let filter): return .not(node(filter, &columns))
        default:
            for name in filter.columns.sorted() where Item.isField(name) { _ = position(of: name, &columns) }
            return .general(filter)
        }
    }

    /// Joins the conditions on one column, of filters that must all hold.
    private static func parts(
        of filters: [Filter], _ columns: inout [String]
    ) -> (conditions: [ColumnCondition], others: [Node]) {
        var (conditions, others): ([ColumnCondition], [Node]) = ([], [])
        for filter in filters {
            let node = node(filter, &columns)
            guard case .column(let condition) = node else {
                others.append(node)
                continue
            }
            if let index = conditions.firstIndex(where: { $0.position == condition.position }) {
                conditions[index] = conditions[index].and(condition)
            } else {
                conditions.append(condition)
            }
        }
        return (conditions, others)
    }

    private static func position(of name: String, _ columns: inout [String]) -> Int {
        if let position = columns.firstIndex(where: { $0.hasSameBytes(as: name) }) { return position }
        columns.append(name)
        return columns.count - 1
    }
}

/// Tests of one column that must all hold.
///
/// A class, because each row passes the condition around.
@usableFromInline package final class ColumnCondition {
    private let column: String
    /// The column's position in ``PreparedFilter/columns``.
    package let position: Int
    private let tests: [ColumnTest]
    /// The integers for which all tests hold; `nil` if a test does not have them.
    private let integers: IntegerRange?
    /// The layout of the last item, and where it has the column.
    private var layout: FieldLayout?
    private var layoutID: ObjectIdentifier?
    private var positionInLayout: Int?

    init(on column: String, at position: Int, _ tests: [ColumnTest]) {
        (self.column, self.position, self.tests) = (column, position, tests)
        integers = tests.reduce(IntegerRange()) { range, test in
            range.flatMap { range in test.integers.map(range.intersection) }
        }
    }

    func and(_ other: ColumnCondition) -> ColumnCondition {
        ColumnCondition(on: column, at: position, tests + other.tests)
    }

    /// Whether the tests hold for the field of an item; `nil` for unknown.
    package func truth(for fields: ItemFields) -> Bool? {
        let id = fields.layoutID
        if id != layoutID {
            (layout, layoutID) = (fields.layout, id)
            positionInLayout = layout?.position(of: column)
        }
        if id == nil { return truth(for: fields[column] ?? .null) }
        return truth(for: positionInLayout.flatMap { fields.value(at: $0) } ?? .null)
    }

    /// Whether the tests hold for the value of the column, null if the row has none; `nil` for unknown.
    func truth(for value: ItemValue) -> Bool? {
        if case .int(let integer) = value { return truth(for: integer) }
        return Filter.fold(tests, stopAt: false) { $0.holds(value) }
    }

    /// Whether the tests hold for the integer; `nil` for unknown.
    func truth(for integer: Int64) -> Bool? {
        integers?.contains(integer) ?? Filter.fold(tests, stopAt: false) { $0.holds(.int(integer)) }
    }

    /// Whether the tests hold for the text with these UTF-8 bytes; `nil` for unknown.
    func truth(forUTF8 text: UnsafeRawBufferPointer) -> Bool? {
        Filter.fold(tests, stopAt: false) { $0.holdsForUTF8(text) }
    }
}

/// A row of a scan, which finds the columns of a ``PreparedFilter`` by their positions.
@usableFromInline package protocol ScannedRow: ColumnReading {
    /// Whether the tests hold for the row; `nil` for unknown.
    func truth(of condition: ColumnCondition) throws(Failure) -> Bool?

    /// Reads the columns.
    func read(_ columns: ColumnPositions, into values: inout RowValues) throws(Failure)
}
