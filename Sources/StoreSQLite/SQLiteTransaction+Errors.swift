// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

@_spi(StoreAuthor) import SyncCore

extension SQLiteTransaction {
    private static let errorColumns = """
        SELECT "operationId","properties" FROM "MS_TableOperationErrors"
        """

    private static let findError = SQLText("\(errorColumns) WHERE \"id\"=?")
    private static let removeError = SQLText("DELETE FROM \"MS_TableOperationErrors\" WHERE \"id\"=?")

    func operationError(operationID: Int64) throws -> TableOperationError? {
        let statement = try connection.cached(Self.findError)
        try statement.bind(operationID, at: 1)
        return try statement.firstRow { readable(try $0.operationError()) }
    }

    func operationErrors(in table: String?) throws -> [TableOperationError] {
        let condition = table == nil ? "" : " WHERE \"table\"=?"
        let statement = try connection.cached("\(Self.errorColumns)\(condition) ORDER BY \"id\"")
        if let table { try statement.bind(table, at: 1) }
        var errors: [TableOperationError] = []
        try statement.forEachRow { errors.append(readable(try $0.operationError())) }
        return errors
    }

    private func readable(_ error: TableOperationError) -> TableOperationError {
        guard sharedColumns != nil else { return error }
        var readable = error
        readable.item = self.readable(error.item, in: error.table)
        return readable
    }

    /// Stores the error under its operation's id, because an operation has at most one error.
    func put(_ error: TableOperationError) throws {
        let statement = try connection.cached(
            """
            INSERT INTO "MS_TableOperationErrors"("id","operationId","table","tableKind","properties") \
            VALUES(?1,?1,?2,0,?3) \
            ON CONFLICT("id") DO UPDATE SET "table"=excluded."table","properties"=excluded."properties"
            """, writes: true)
        try statement.bind(error.operationID, at: 1)
        try statement.bind(error.table, at: 2)
        try statement.bindText(storedForm(of: error).storedProperties, at: 3)
        try statement.execute()
    }

    func removeOperationError(operationID: Int64) throws {
        // A decision keeps the operation. The rows that it is about can lack columns that this store does not declare.
        try sharedColumns?.checkRemoval { try operation(id: operationID) }
        let statement = try connection.cached(Self.removeError, writes: true)
        try statement.bind(operationID, at: 1)
        try statement.execute()
    }
}

extension SQLRow {
    fileprivate func operationError() throws -> TableOperationError {
        let id = int(at: 0)
        let error = try withText(at: 1) { try TableOperationError(operationID: id, storedProperties: $0) }
        guard let error else {
            throw StoreError(
                .corrupt, "The store is damaged: the error of operation \(id) has no properties.")
        }
        return error
    }
}
