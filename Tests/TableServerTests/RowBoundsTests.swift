// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Testing

@testable import TableServer

/// The conditions by which a list finds its first row, which keep late pages of a large table cheap.
struct RowBoundsTests {
    private static let times = (0..<3).map { second in
        Timestamp(seconds: Timestamp.noon.seconds + second) ?? .noon
    }

    /// Nine rows: for each of three seconds the ids `a`, `b` and `c`, followed by the second.
    private static let rows: [TableRow] = times.enumerated().flatMap { second, time in
        ["c", "a", "b"].map { id in
            TableRow(
                id: "\(id)\(second)", fields: [:], createdAt: time, updatedAt: time, revision: 1,
                deleted: false, sequence: 0)
        }
    }

    /// Returns the rows within the bounds of the filter, in the order of the column.
    private func rows(_ ordering: String, within filter: String) throws -> String {
        let bounds = try ODataParser.parse(filter, columns: ColumnNames()).rowBounds
        var sql = SQLText(for: .sqlite)
        sql.append("SELECT id FROM \(RowTable.rows("todoitem")) WHERE TRUE")
        sql.append(bounds: bounds)
        sql.append(" ORDER BY \(ordering)")
        let storage = try StorageWithRows(Self.rows)
        return try storage.ids(sql).joined(separator: " ")
    }

    private static let noon = "datetimeoffset'2024-05-30T12:00:00Z'"
    private static let later = "datetimeoffset'2024-05-30T12:00:01.000Z'"
    private static let muchLater = "datetimeoffset'2024-05-30T12:00:01.001Z'"
    private static let keyset = "updatedAt gt \(later) or (updatedAt eq \(later) and id gt 'b1')"

    @Test(arguments: [
        ("1 eq 1", "a0 b0 c0 a1 b1 c1 a2 b2 c2"),
        ("updatedAt ge \(later)", "a1 b1 c1 a2 b2 c2"),
        ("updatedAt gt \(later)", "a2 b2 c2"),
        ("updatedAt eq \(later)", "a1 b1 c1"),
        (keyset, "c1 a2 b2 c2"),
        ("(n eq 1) and (updatedAt gt \(later) or updatedAt eq \(later) and id gt 'a1')", "b1 c1 a2 b2 c2"),
        ("updatedAt ge \(noon) and updatedAt gt \(later)", "a2 b2 c2"),
        ("updatedAt ge \(later) or n eq 1", "a0 b0 c0 a1 b1 c1 a2 b2 c2"),
        ("updatedAt ge \(later) or updatedAt gt \(noon)", "a1 b1 c1 a2 b2 c2"),
        ("updatedAt eq null or updatedAt ge \(later)", "a1 b1 c1 a2 b2 c2"),
        ("not (updatedAt ge \(later))", "a0 b0 c0 a1 b1 c1 a2 b2 c2"),
        ("updatedAt lt \(later)", "a0 b0 c0 a1 b1 c1"),
        ("updatedAt le \(noon) or updatedAt lt \(later)", "a0 b0 c0 a1 b1 c1"),
        ("updatedAt le \(noon) and updatedAt lt \(later)", "a0 b0 c0"),
        ("updatedAt le \(noon) or n eq 1", "a0 b0 c0 a1 b1 c1 a2 b2 c2"),
        ("updatedAt ge \(later) and updatedAt le \(later)", "a1 b1 c1"),
    ])
    func `the bounds of a filter by updatedAt include the rows that can match`(
        _ filter: String, _ ids: String
    ) throws {
        #expect(try rows("updatedAt, id", within: filter) == ids)
    }

    @Test(arguments: [
        ("id gt 'b1'", "b2 c0 c1 c2"), ("id gt 'b' and id gt 'b1'", "b2 c0 c1 c2"),
        ("id gt 'b' or id gt 'b1'", "b0 b1 b2 c0 c1 c2"), ("id gt 'c2'", ""),
        ("id ne 'a'", "a0 a1 a2 b0 b1 b2 c0 c1 c2"), ("id eq 'b1'", "b1"), ("id eq 'b1' and n eq 1", "b1"),
        ("id eq 'b1' or id eq 'b1'", "b1"), ("id eq 'b1' or id eq 'b2'", "a0 a1 a2 b0 b1 b2 c0 c1 c2"),
        ("id eq 'b1\0'", "a0 a1 a2 b0 b1 b2 c0 c1 c2"), ("id gt 'b1\0'", "a0 a1 a2 b0 b1 b2 c0 c1 c2"),
    ])
    func `the bounds of a filter by id begin at the first row that can match`(
        _ filter: String, _ ids: String
    ) throws {
        #expect(try rows("id", within: filter) == ids)
    }

    @Test(
        arguments: [
            (nil, "", "SCAN rows_todoitem"),
            (nil, "id", "SEARCH rows_todoitem USING INDEX rows_todoitem_by_id (owner=?)"),
            (nil, "updatedAt", "SEARCH rows_todoitem USING INDEX rows_todoitem_by_update (owner=?)"),
            ("id gt 'a'", "id", "SEARCH rows_todoitem USING INDEX rows_todoitem_by_id (owner=? AND id>?)"),
            (
                "updatedAt ge \(later)", "updatedAt",
                "SEARCH rows_todoitem USING INDEX rows_todoitem_by_update (owner=? AND updatedAt>?)"
            ),
            (
                keyset, "updatedAt,id",
                "SEARCH rows_todoitem USING INDEX rows_todoitem_by_update (owner=? AND (updatedAt,id)>(?,?))"
            ),
            (
                "(n eq 1) and (\(keyset))", "updatedAt,id",
                "SEARCH rows_todoitem USING INDEX rows_todoitem_by_update (owner=? AND (updatedAt,id)>(?,?))"
            ),
        ] as [(String?, String, String)])
    func `a page is one range of an index, and is not sorted`(
        _ filter: String?, _ ordering: String, _ plan: String
    ) throws {
        let columns = ColumnNames()
        let query = RowQuery(
            filter: try filter.map { try ODataParser.parse($0, columns: columns) },
            ordering: ordering.isEmpty ? [] : try ODataOrdering.parse(ordering, columns: columns),
            includesDeleted: false)
        let found = try StorageWithRows(Self.rows).plan(of: query)
        #expect(found == [plan])
    }

    @Test func `the latest rows are read from the end of the index`() throws {
        let ordering = try ODataOrdering.parse("updatedAt desc", columns: ColumnNames())
        let query = RowQuery(filter: nil, ordering: ordering, includesDeleted: false)
        let plan = try StorageWithRows(Self.rows).plan(of: query)
        #expect(
            plan == [
                "SEARCH rows_todoitem USING INDEX rows_todoitem_by_update (owner=?)",
                "USE TEMP B-TREE FOR RIGHT PART OF ORDER BY",
            ])
    }

    /// A pull reads the rows of one `updatedAt` again, up to an id.
    @Test(arguments: [
        ("updatedAt ge \(noon) and updatedAt lt \(later) and id le 'b'", true),
        ("updatedAt ge \(noon) and updatedAt lt \(muchLater) and id le 'b'", false),
    ])
    func `rows by id within one second are read from the index by updatedAt`(
        _ filter: String, _ isShort: Bool
    ) throws {
        let columns = ColumnNames()
        let query = RowQuery(
            filter: try ODataParser.parse(filter, columns: columns),
            ordering: try ODataOrdering.parse("id", columns: columns), includesDeleted: true)
        let plan = try StorageWithRows(Self.rows).plan(of: query)
        let byUpdate = "by_update (owner=? AND updatedAt>? AND updatedAt<?)"
        let index = "rows_todoitem_\(isShort ? byUpdate : "by_id (owner=?)")"
        #expect(plan.first == "SEARCH rows_todoitem USING INDEX \(index)")
    }

    @Test func `rows without updatedAt are not looked for`() throws {
        var sql = SQLText(for: .sqlite)
        sql.append(condition: try ODataParser.parse("updatedAt eq null", columns: ColumnNames()))
        #expect(sql.text == "FALSE")
        sql.append(condition: try ODataParser.parse("version ne null", columns: ColumnNames()))
        #expect(sql.text == "FALSETRUE")
    }

    @Test func `a list by id reads one row`() throws {
        let filter = try ODataParser.parse("id eq 'a' and n eq 1", columns: ColumnNames())
        let query = RowQuery(filter: filter, ordering: [], includesDeleted: false)
        let plan = try StorageWithRows(Self.rows).plan(of: query)
        #expect(plan.first == "SEARCH rows_todoitem USING INDEX rows_todoitem_by_id (owner=? AND id=?)")
    }
}
