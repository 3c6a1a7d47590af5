// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) || os(macOS)
    import SyncCore
    import Testing

    @testable import TableServer
    @testable import TableServerPostgreSQL

    /// How PostgreSQL finds the rows of a page in a table of which it has no statistics yet.
    @Suite
    struct PostgreSQLPlanTests {
        private static let time = "datetimeoffset'2024-05-30T12:30:00.000Z'"

        /// A table with 100 000 rows.
        private static let storage = Result {
            let storage = try PostgreSQLWithRows([])
            try storage.database.connect().run(
                """
                ALTER TABLE rows_todoitem SET (autovacuum_enabled = off);
                INSERT INTO rows_todoitem (owner, id, createdAt, updatedAt, revision, deleted, fields)
                SELECT '', n * 7919 % 1000003, '2024-05-30T12:00:00.000000000',
                    format('2024-05-30T12:%s:00.000000000', lpad((n / 2000)::text, 2, '0')), 1, FALSE,
                    json_build_object('n', n)
                FROM generate_series(1, 100000) n
                """)
            return storage
        }

        private func plan(_ filter: String?, _ ordering: String) throws -> String {
            let columns = ColumnNames()
            let query = RowQuery(
                filter: try filter.map { try ODataParser.parse($0, columns: columns) },
                ordering: ordering.isEmpty ? [] : try ODataOrdering.parse(ordering, columns: columns),
                includesDeleted: false)
            let storage = try Self.storage.get()
            var sql = SQLText(for: .postgreSQL)
            sql.append("EXPLAIN (COSTS off) ")
            sql.append(select: query, in: storage.scope, owner: "", offset: 0, limit: 51)
            let plan = try storage.database.connect().execute(sql.text, sql.postgreSQLArguments)
            return (0..<plan.rowCount).map { plan.text($0, 0) }.joined(separator: "\n")
        }

        @Test(
            arguments: [
                (nil, "updatedAt,id"), ("updatedAt ge \(time)", "updatedAt,id"),
                ("updatedAt ge \(time)", "updatedAt"),
                ("updatedAt gt \(time) or (updatedAt eq \(time) and id gt 'b1')", "updatedAt,id"),
                (
                    "(n eq 1) and (updatedAt gt \(time) or (updatedAt eq \(time) and id gt 'b1'))",
                    "updatedAt,id"
                ),
            ] as [(String?, String)])
        func `a page by updatedAt is one range of an index, and is not sorted`(
            _ filter: String?, _ ordering: String
        ) throws {
            let plan = try plan(filter, ordering)
            #expect(plan.contains("Index Scan using rows_todoitem_by_update"))
            #expect(!plan.contains("Sort"))
            let bound = filter == nil ? "(owner = ''::text)" : "(updatedat"
            #expect(plan.split(separator: "\n").contains { $0.contains("Index Cond") && $0.contains(bound) })
        }

        @Test(arguments: [("id eq 'a'", ""), ("id eq 'a'", "updatedAt"), ("id gt 'a'", "id"), (nil, "id")])
        func `rows by id are found by the index`(_ filter: String?, _ ordering: String) throws {
            try #expect(plan(filter, ordering).contains("Index Scan using rows_todoitem_by_id"))
        }
    }
#endif
