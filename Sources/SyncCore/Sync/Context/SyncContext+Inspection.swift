// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension SyncContext {
    /// Returns the number of pending operations, of one table or of all.
    ///
    /// - Throws: ``SyncError/Code/storeFailure``.
    public func pendingOperationCount(in table: String? = nil) async throws -> Int {
        try await read { try $0.operationCount(in: table) }
    }

    /// Returns the pending operations in the order of the queue, which is that of their ids.
    ///
    /// - Parameters:
    ///   - table: the table of the operations; `nil` is all.
    ///   - id: only operations with greater ids are returned.
    ///   - limit: the greatest number of operations. For a long queue, pass a limit, and continue after the last id.
    /// - Throws: ``SyncError/Code/storeFailure``.
    public func pendingOperations(
        in table: String? = nil, after id: Int64 = 0, limit: Int = .max
    ) async throws -> [TableOperation] {
        try await read { try $0.operations(after: id, in: table, limit: limit) }
    }

    /// Returns the error log: the errors of pending operations, in the order of the queue.
    ///
    /// - Throws: ``SyncError/Code/storeFailure``.
    public func operationErrors(in table: String? = nil) async throws -> [TableOperationError] {
        try await read { try $0.operationErrors(in: table) }
    }

    /// Returns the delta tokens of a table: the server's text of `updatedAt` by query ID.
    ///
    /// - Throws: ``SyncError/Code/unknownTable``, ``SyncError/Code/storeFailure``.
    public func deltaTokens(of table: String) async throws -> [String: String] {
        _ = try definition(of: table)
        let values = try await read { snapshot in
            try snapshot.configValues(in: table, kind: .deltaToken).map { ($0.key.name, $0.value) }
        }
        return values.reduce(into: [:]) { tokens, entry in
            tokens[entry.0] = DeltaToken.updatedAtText(inStoredText: entry.1)
        }
    }
}
