// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

extension SQLiteTransaction {
    func item(id: String, in table: String) throws -> Item? {
        let table = try schema.table(named: table)
        let statement = try connection.cached(table.find)
        try statement.bind(id, at: 1)
        return try statement.firstRow { try $0.item(of: table, columns: table.columns) }
    }

    func items(matching query: TableQuery) throws -> QueryResult {
        let table = try schema.table(named: query.table)
        let (columns, select) = table.select(query.selection)
        var items: [Item] = []
        let count = try forEachRow(of: table, select, matching: query) { row in
            items.append(try row.item(of: table, columns: columns))
        }
        return QueryResult(items: items, totalCount: count)
    }

    func forEachRow(
        matching query: TableQuery, columns names: [String], _ body: (RowValues) throws -> Void
    ) throws -> Int? {
        let table = try schema.table(named: query.table)
        let (columns, select) = table.select(names)
        let positions = columns.definitions.map { names.firstIndex(of: $0.name) }
        var values = RowValues(columnCount: names.count)
        return try forEachRow(of: table, select, matching: query) { row in
            try row.read(columns.definitions, of: table, at: positions, into: &values)
            try body(values)
        }
    }

    /// Calls the body with each row of a `SELECT` of the table, and returns the total count if the query includes it.
    private func forEachRow(
        of table: ItemTable, _ select: String, matching query: TableQuery, _ body: (SQLRow) throws -> Void
    ) throws -> Int? {
        let compiler = QueryCompiler(table: table)
        let condition = try query.filter.map { try compiler.condition($0) }
        if query.limit != 0 {
            let clauses = [compiler.whereClause(condition), compiler.orderAndWindow(of: query)]
            try prepared(SQLFragment(select, clauses, separator: "", "")).forEachRow(body)
        }
        return query.includesTotalCount ? try count(table, condition, compiler) : nil
    }

    private func count(
        _ table: ItemTable, _ condition: SQLFragment?, _ compiler: QueryCompiler
    ) throws -> Int {
        let select = "SELECT count(*) FROM \(table.name)"
        let query = SQLFragment(select, [compiler.whereClause(condition)], separator: "", "")
        return try prepared(query).firstRow { Int($0.int(at: 0)) } ?? 0
    }

    func insert(_ item: Item, in table: String) throws -> Bool {
        let table = try schema.table(named: table)
        try sharedColumns?.check([item], in: table.definition.name)
        if table.isShared, try contains(item.id, in: table) { return false }
        let statement = try connection.cached(table.insert, writes: true)
        try execute(statement, with: item, in: table)
        if table.isShared, connection.changedRowCount == 0 { throw table.ignoredChange(of: item.id) }
        return connection.changedRowCount > 0
    }

    func upsert(_ items: [Item], in table: String) throws {
        let table = try schema.table(named: table)
        guard !items.isEmpty else { return }
        try sharedColumns?.check(items, in: table.definition.name)
        let statement = try connection.cached(table.upsert, writes: true)
        try table.updateHiddenColumns(on: connection)
        let hasHiddenColumns = !table.hiddenColumns.isEmpty
        for item in items {
            let flags = hasHiddenColumns ? try find(table.findFlags, id: item.id) { try $0.text(at: 0) } : nil
            let oldFlags = flags?.map(FieldFlags.init)
            if let update = table.update {
                try execute(
                    connection.cached(update, writes: true), with: item, in: table, keeping: oldFlags)
                if connection.changedRowCount > 0 { continue }
                if try contains(item.id, in: table) { throw table.ignoredChange(of: item.id) }
            }
            try execute(statement, with: item, in: table, keeping: oldFlags)
            if connection.changedRowCount == 0 { throw table.ignoredChange(of: item.id) }
        }
    }

    /// - Parameter oldFlags: the flags of the stored row, which are kept for hidden columns.
    private func execute(
        _ statement: SQLStatement, with item: Item, in table: ItemTable, keeping oldFlags: FieldFlags? = nil
    ) throws {
        guard item.id.utf8.count <= ItemID.maxUTF8Length else {
            throw StoreError(
                .unsupported,
                "The id has \(item.id.utf8.count) bytes; use at most \(ItemID.maxUTF8Length)."
            )
        }
        guard !item.system.deleted else {
            throw StoreError(
                .unsupported, "The item '\(item.id)' is a tombstone; a local table cannot store tombstones.")
        }
        let texts = connection.rowTexts
        try statement.bind(item, to: table, keeping: oldFlags, textsIn: texts)
        do { try statement.execute(with: texts) } catch let error as StoreError {
            throw error.naming(itemID: item.id, table: table.definition.name)
        }
    }

    private func contains(_ id: String, in table: ItemTable) throws -> Bool {
        try find(table.findID, id: id) { _ in true } ?? false
    }

    func find<T>(_ sql: SQLText, id: String, _ body: (SQLRow) throws -> T) throws -> T? {
        let statement = try connection.cached(sql)
        try statement.bind(id, at: 1)
        return try statement.firstRow(body)
    }

    func deleteItems(ids: [String], in table: String) throws {
        let table = try schema.table(named: table)
        guard !ids.isEmpty else { return }
        let statement = try connection.cached(table.delete, writes: true)
        for id in ids {
            try statement.bind(id, at: 1)
            do { try statement.execute() } catch let error as StoreError {
                throw error.naming(itemID: id, table: table.definition.name)
            }
            if table.isShared, try contains(id, in: table) { throw table.ignoredChange(of: id) }
        }
    }

    func deleteItems(matching query: TableQuery) throws -> Int {
        let table = try schema.table(named: query.table)
        if query.limit == 0 { return 0 }
        let compiler = QueryCompiler(table: table)
        let condition = try query.filter.map { try compiler.condition($0) }
        let delete = "DELETE FROM \(table.name)"
        var clauses = [compiler.whereClause(condition)]
        let before = try table.isShared ? count(table, condition, compiler) : 0
        if query.limit == nil && query.offset == 0 {
            try prepared(SQLFragment(delete, clauses, separator: "", ""), writes: true).execute()
        } else {
            let ids = "\(delete) WHERE \"id\" IN (SELECT \"id\" FROM \(table.name)"
            clauses.append(compiler.orderAndWindow(of: query))
            try prepared(SQLFragment(ids, clauses, separator: "", ")"), writes: true).execute()
        }
        let deleted = connection.changedRowCount
        let matching = max(0, before - query.offset)
        let expected = min(matching, query.limit ?? matching)
        // SQLite does not count rows that a foreign key of the app has removed, and its triggers can add rows.
        if deleted < expected, try count(table, condition, compiler) > before - expected {
            throw table.ignoredChange(of: nil)
        }
        return max(deleted, expected)
    }

    /// Above this number of parameters, a statement is not cached: its text rarely occurs again.
    private static let maxCachedParameterCount = 16

    /// Prepares the statement and binds its values.
    private func prepared(_ query: SQLFragment, writes: Bool = false) throws -> SQLStatement {
        if query.callsFunctions { try connection.registerFunctions() }
        // The cache has no limit, and its statements keep their values.
        let isCached =
            !query.isRarelyRepeated && query.values.count <= Self.maxCachedParameterCount
            && !query.values.contains(where: \.isSet)
        let statement =
            try isCached
            ? connection.cached(query.sql, writes: writes) : connection.prepared(query.sql, writes: writes)
        try query.bindValues(to: statement)
        return statement
    }
}

extension SQLValue {
    /// Whether this is a long list of constants.
    fileprivate var isSet: Bool { if case .set = self { true } else { false } }
}
