// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Testing

@testable import TableServer

/// The row at which a list starts to scan, which keeps late pages of a large table cheap.
struct ScanStartTests {
    private static let times = (0..<3).map { second in
        Timestamp(seconds: Timestamp.noon.seconds + second) ?? .noon
    }

    /// Nine rows: for each of three seconds the ids `a`, `b` and `c`, followed by the second.
    private static let rows: TableRows = {
        var rows = TableRows(table: TableServer.Table("TodoItem"))
        for (second, time) in times.enumerated() {
            for id in ["c", "a", "b"] {
                rows.apply(
                    .put(
                        TableRow(
                            id: "\(id)\(second)", fields: [:], createdAt: time, updatedAt: time, revision: 1,
                            deleted: false, sequence: rows.lastSequence + 1)))
            }
        }
        return rows
    }()

    private func visited(_ order: TableRows.Order, _ filter: String) throws -> String {
        var ids: [String] = []
        let start = try ODataParser.parse(filter, columns: ColumnNames()).scanStart
        Self.rows.scan(order, from: start) { row in
            ids.append(row.id)
            return true
        }
        return ids.joined(separator: " ")
    }

    private static let noon = "datetimeoffset'2024-05-30T12:00:00Z'"
    private static let later = "datetimeoffset'2024-05-30T12:00:01.000Z'"

    @Test(arguments: [
        ("1 eq 1", "a0 b0 c0 a1 b1 c1 a2 b2 c2"),
        ("updatedAt ge \(later)", "a1 b1 c1 a2 b2 c2"),
        ("updatedAt gt \(later)", "a2 b2 c2"),
        ("updatedAt eq \(later)", "a1 b1 c1 a2 b2 c2"),
        ("updatedAt gt \(later) or (updatedAt eq \(later) and id gt 'b1')", "c1 a2 b2 c2"),
        ("(n eq 1) and (updatedAt gt \(later) or updatedAt eq \(later) and id gt 'a1')", "b1 c1 a2 b2 c2"),
        ("updatedAt ge \(noon) and updatedAt gt \(later)", "a2 b2 c2"),
        ("updatedAt ge \(later) or n eq 1", "a0 b0 c0 a1 b1 c1 a2 b2 c2"),
        ("updatedAt ge \(later) or updatedAt gt \(noon)", "a1 b1 c1 a2 b2 c2"),
        ("not (updatedAt ge \(later))", "a0 b0 c0 a1 b1 c1 a2 b2 c2"),
        ("updatedAt lt \(later)", "a0 b0 c0 a1 b1 c1 a2 b2 c2"),
    ])
    func `a scan by updatedAt starts at the first row that can match`(
        _ filter: String, _ ids: String
    ) throws {
        #expect(try visited(.update, filter) == ids)
    }

    @Test(arguments: [
        ("id gt 'b1'", "b2 c0 c1 c2"), ("id gt 'b' and id gt 'b1'", "b2 c0 c1 c2"),
        ("id gt 'b' or id gt 'b1'", "b0 b1 b2 c0 c1 c2"), ("id gt 'c2'", ""),
        ("id ne 'a'", "a0 a1 a2 b0 b1 b2 c0 c1 c2"),
    ])
    func `a scan by id starts at the first row that can match`(_ filter: String, _ ids: String) throws {
        #expect(try visited(.id, filter) == ids)
    }

    @Test func `a scan ends when its body returns false`() {
        var count = 0
        Self.rows.scan(.update) { _ in
            count += 1
            return count < 4
        }
        #expect(count == 4)
    }

    @Test func `a removed row is not in any order`() {
        var rows = Self.rows
        rows.apply(.remove(RowKey("b1")))
        for order in [TableRows.Order.insertion, .id, .update] {
            var ids: [String] = []
            rows.scan(order) { row in
                ids.append(row.id)
                return true
            }
            #expect(ids.count == 8)
            #expect(!ids.contains("b1"))
        }
        #expect(rows["b1"] == nil)
    }
}
