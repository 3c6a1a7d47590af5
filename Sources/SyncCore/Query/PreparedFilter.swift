// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A filter prepared for the rows of a scan.
///
/// Each column has a position, at which a row finds it without comparing names. All tests of a column that must hold
/// together are made with one look at its value.
@usableFromInline package struct PreparedFilter: Sendable {
    /// The fields that the filter reads: the column of each position.
    package let columns: [String]
    private let root: Node

    private indirect enum Node: Sendable {
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
        root = filter.map { Self.node($0, &columns) } ?? .all([])
        self.columns = columns
    }

    /// Whether the row matches: the same as ``Filter/matches(_:)``.
    @usableFromInline package func matches<Row: ScannedRow>(_ row: Row) throws(Row.Failure) -> Bool {
        try Self.truth(root, row) == true
    }

    private static func truth<Row: ScannedRow>(_ node: Node, _ row: Row) throws(Row.Failure) -> Bool? {
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
            return .column(ColumnCondition(at: position(of: name, &columns), [test]))
        }
        switch filter {
        case .all(let filters): return all(filters, &columns)
        case .any(let filters): return .any(filters.map { node($0, &columns) })
        case .not(let filter): return .not(node(filter, &columns))
        default:
            for name in filter.columns.sorted() where Item.isField(name) { _ = position(of: name, &columns) }
            return .general(filter)
        }
    }

    /// Joins the conditions on one column.
    private static func all(_ filters: [Filter], _ columns: inout [String]) -> Node {
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
        let nodes = conditions.map(Node.column) + others
        return nodes.count == 1 ? nodes[0] : .all(nodes)
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
@usableFromInline package final class ColumnCondition: Sendable {
    /// The column's position in ``PreparedFilter/columns``.
    package let position: Int
    private let tests: [ColumnTest]

    init(at position: Int, _ tests: [ColumnTest]) {
        (self.position, self.tests) = (position, tests)
    }

    func and(_ other: ColumnCondition) -> ColumnCondition {
        ColumnCondition(at: position, tests + other.tests)
    }

    /// Whether the tests hold for the value of the column, null if the row has none; `nil` for unknown.
    package func truth(for value: ItemValue) -> Bool? {
        Filter.fold(tests, stopAt: false) { $0.holds(value) }
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
