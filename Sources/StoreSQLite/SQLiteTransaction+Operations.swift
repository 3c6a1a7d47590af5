// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

@_spi(StoreAuthor) import SyncCore

extension SQLiteTransaction {
    private static let operationColumns = """
        SELECT "id","table","itemId","properties","rows" FROM "MS_TableOperations"
        """

    private static let findOperation = SQLText("\(operationColumns) WHERE \"id\"=?")
    private static let findOperationsOfItem = SQLText(
        "\(operationColumns) WHERE \"table\"=? AND \"itemId\"=? ORDER BY \"id\"")
    private static let findLastID = SQLText(
        "SELECT \"seq\" FROM \"sqlite_sequence\" WHERE \"name\"='MS_TableOperations'")
    private static let putOperation = SQLText(
        """
        INSERT INTO "MS_TableOperations"("id","table","tableKind","itemId","properties","rows") \
        VALUES(?1,?2,0,?3,?4,?5) \
        ON CONFLICT("id") DO UPDATE SET "table"=excluded."table","itemId"=excluded."itemId",\
        "properties"=excluded."properties","rows"=excluded."rows"
        """)
    /// Does not set the indexed columns: even unchanged values would rewrite their index entries.
    private static let changeOperation = SQLText(
        """
        UPDATE "MS_TableOperations" SET "properties"=?4,"rows"=?5 WHERE "id"=?1 AND "table"=?2 AND "itemId"=?3
        """)
    private static let removeOperation = SQLText("DELETE FROM \"MS_TableOperations\" WHERE \"id\"=?")

    func operation(id: Int64) throws -> TableOperation? { try storedOperation(id: id).map(readable) }

    /// Returns the operation with what other processes of a shared file have stored with it.
    func storedOperation(id: Int64) throws -> TableOperation? {
        let statement = try connection.cached(Self.findOperation)
        try statement.bind(id, at: 1)
        return try statement.firstRow { try $0.operation(decoded) }
    }

    private func readable(_ operation: TableOperation) -> TableOperation {
        guard sharedColumns != nil, operation.deletedItem != nil else { return operation }
        var readable = operation
        readable.deletedItem = self.readable(operation.deletedItem, in: operation.table)
        return readable
    }

    func operations(after id: Int64, in table: String?, limit: Int) throws -> [TableOperation] {
        // In the order of ids, a page costs the rows it skips. With the index of tables, each page would sort all
        // operations of the table.
        let condition = table == nil ? "" : " AND \"table\"=?3"
        let statement = try connection.cached(
            "\(Self.operationColumns) NOT INDEXED WHERE \"id\">?1\(condition) ORDER BY \"id\" LIMIT ?2")
        try statement.bind(id, at: 1)
        try statement.bind(Int64(max(limit, 0)), at: 2)
        if let table { try statement.bind(table, at: 3) }
        return try storedOperations(statement).map(readable)
    }

    func operations(forItem itemID: String, in table: String) throws -> [TableOperation] {
        try storedOperations(forItem: itemID, in: table).map(readable)
    }

    func storedOperations(forItem itemID: String, in table: String) throws -> [TableOperation] {
        let statement = try connection.cached(Self.findOperationsOfItem)
        try statement.bind(table, at: 1)
        try statement.bind(itemID, at: 2)
        return try storedOperations(statement)
    }

    private func storedOperations(_ statement: SQLStatement) throws -> [TableOperation] {
        var operations: [TableOperation] = []
        try statement.forEachRow { operations.append(try $0.operation(decoded)) }
        return operations
    }

    func operationCount(in table: String?) throws -> Int {
        let condition = table == nil ? "" : " WHERE \"table\"=?"
        let statement = try connection.cached("SELECT count(*) FROM \"MS_TableOperations\"\(condition)")
        if let table { try statement.bind(table, at: 1) }
        return try statement.firstRow { Int($0.int(at: 0)) } ?? 0
    }

    func lastOperationID() throws -> Int64 {
        if let id = lastID.value { return id }
        let id = try connection.cached(Self.findLastID).firstRow { $0.int(at: 0) } ?? 0
        lastID.value = id
        return id
    }

    func put(_ operation: TableOperation) throws {
        try sharedColumns?.check(operation) { try self.operation(id: operation.id) }
        let operation = try storedForm(of: operation)
        let texts = connection.rowTexts
        texts.removeAll()
        texts.add(operation.table, at: 2)
        texts.add(operation.itemID, at: 3)
        texts.add(at: 4) { operation.appendStoredPropertiesWithoutRows(to: &$0) }
        if operation.hasRows { texts.addBlob(at: 5) { operation.appendRows(to: &$0) } }
        texts.withValue(at: 4) { properties in
            texts.withValue(at: 5) { decoded.add(operation, stored: .properties(properties, rows: $0)) }
        }
        if lastID.value.map({ operation.id <= $0 }) ?? true {
            try execute(Self.changeOperation, id: operation.id, texts)
            if connection.changedRowCount > 0 { return }
        }
        try execute(Self.putOperation, id: operation.id, texts)
        lastID.value = lastID.value.map { max($0, operation.id) }
    }

    private func execute(_ sql: SQLText, id: Int64, _ texts: RowTexts) throws {
        let statement = try connection.cached(sql, writes: true)
        try statement.bind(id, at: 1)
        try statement.execute(with: texts)
    }

    func removeOperation(id: Int64) throws {
        try sharedColumns?.checkRemoval { try operation(id: id) }
        let statement = try connection.cached(Self.removeOperation, writes: true)
        try statement.bind(id, at: 1)
        try statement.execute()
    }
}

extension SQLRow {
    fileprivate func operation(_ decoded: DecodedOperations) throws -> TableOperation {
        let id = int(at: 0)
        let operation = try withText(at: 3) { properties in
            try withBlob(at: 4) { rows in
                try decoded.operation(
                    id: id, table: try text(at: 1) ?? "", itemID: try text(at: 2) ?? "",
                    stored: .properties(properties, rows: rows))
            }
        }
        guard let operation else {
            throw StoreError(.corrupt, "The store is damaged: operation \(id) has no properties.")
        }
        return operation
    }
}
