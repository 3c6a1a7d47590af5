// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A table of the server, read and written directly: nothing is stored here and nothing works offline.
///
/// ```swift
/// let todos = client.table("TodoItem")
/// let item = try await todos.insert(["text": "Milk", "complete": false])
/// try await todos.delete(id: item.id, version: item.system.version)
/// ```
///
/// Fields are as JSON has them: dates and binary data are sent as text and come back as text. Every method takes the
/// app's own query parameters, which may not begin with `$`.
///
/// Each method makes one request, and a second one with a new token when the server asks to sign in and the client
/// can refresh. They throw ``SyncError``:
/// - ``SyncError/Code/networkUnavailable``, may retry: no whole answer came; the server may or may not have acted;
/// - ``SyncError/Code/authenticationRequired``: the user must sign in;
/// - ``SyncError/Code/itemNotOnServer``, ``SyncError/Code/tableNotOnServer``;
/// - ``SyncError/Code/serverError``, ``SyncError/Code/serverErrorWithoutMessage``: the server refused;
/// - ``SyncError/Code/unreadableResponse`` and ``SyncError/Code/expectedItemInResponse``, may retry: the answer made
///   no sense; the server may or may not have acted;
/// - ``SyncError/Code/invalidConfiguration``: the client cannot send any request; nothing was sent;
/// - ``SyncError/Code/invalidItem``, ``SyncError/Code/invalidItemID``, ``SyncError/Code/invalidRequest``,
///   ``SyncError/Code/invalidUserParameter``, ``SyncError/Code/missingTableName``: nothing was sent.
///
/// A cancelled task throws `CancellationError`.
public struct RemoteTable: Sendable {
    /// The client that the calls go through.
    public let client: SyncClient
    /// The table's name.
    public let name: String

    fileprivate init(client: SyncClient, name: String) {
        self.client = client
        self.name = name
    }
}

extension SyncClient {
    /// The server's table of that name. No request is made: whether it exists is seen when it is used.
    public func table(_ name: String) -> RemoteTable {
        RemoteTable(client: self, name: name)
    }
}

extension RemoteTable {
    /// Creates a row and returns it as the server stored it.
    ///
    /// - Parameter id: the new row's id; the server makes one when it is `nil`.
    /// - Throws: ``SyncError/Code/itemAlreadyOnServer`` when the server has a row of that id, with a
    ///   ``ServerConflict`` as cause; others as listed for the type.
    public func insert(
        _ fields: [String: ItemValue], id: String? = nil, parameters: [String: String] = [:]
    ) async throws -> Item {
        try await row(.insert(id: id, fields: fields), parameters)
    }

    /// Writes the item's fields to the server's row, if that still has the item's version, and returns the new row.
    ///
    /// An item without a version is written whatever the server has.
    ///
    /// - Throws: ``SyncError/Code/preconditionFailed`` when the server has another version, with a
    ///   ``ServerConflict`` as cause; others as listed for the type.
    public func update(_ item: Item, parameters: [String: String] = [:]) async throws -> Item {
        try await update(
            id: item.id, item.fields, version: item.system.version, parameters: parameters)
    }

    /// Writes these fields to the server's row, if that still has this version, and returns the new row.
    ///
    /// Fields that are not given stay as they are, except in dialect ``WireDialect/v3``, where they are removed.
    ///
    /// - Throws: as ``update(_:parameters:)``.
    public func update(
        id: String, _ fields: [String: ItemValue], version: String?, parameters: [String: String] = [:]
    ) async throws -> Item {
        try await row(.update(id: id, fields: fields, version: version), parameters)
    }

    /// Deletes the server's row, if it still has this version; with `nil` whatever version it has.
    ///
    /// - Throws: ``SyncError/Code/preconditionFailed`` when the server has another version, with a
    ///   ``ServerConflict`` as cause; others as listed for the type.
    public func delete(
        id: String, version: String?, parameters: [String: String] = [:]
    ) async throws {
        _ = try await answer(to: call(.delete(id: id, version: version), parameters))
    }

    /// Brings a row back that was deleted softly, and returns it.
    ///
    /// - Parameter fields: all of the row's fields, in dialect ``WireDialect/v3``; the others do not send them.
    /// - Throws: as ``update(_:parameters:)``.
    public func undelete(
        id: String, version: String?, fields: [String: ItemValue] = [:], parameters: [String: String] = [:]
    ) async throws -> Item {
        try await row(.undelete(id: id, fields: fields, version: version), parameters)
    }

    /// Reads one row. A row that was deleted softly is not there.
    public func read(id: String, parameters: [String: String] = [:]) async throws -> Item {
        try await row(.read(id: id), parameters)
    }

    /// Reads the rows that a query of this table asks for, in one request.
    ///
    /// Servers cap the number of rows in an answer: fewer rows than the limit do not mean that there are no more.
    /// The query's own parameters are sent. A row whose id breaks the rules for ids comes too, but cannot be written.
    ///
    /// - Parameter includesDeleted: whether rows that were deleted softly come too.
    /// - Throws: ``SyncError/Code/filterNotSupported`` when the query cannot be expressed,
    ///   ``SyncError/Code/expectedTotalCount`` when it asks for a count and the server does not answer with one;
    ///   others as listed for the type.
    public func query(_ query: TableQuery, includesDeleted: Bool = false) async throws -> QueryResult {
        guard query.table.hasSameBytes(as: name) else {
            throw SyncError(
                .invalidParameter, "The query is for the table '\(query.table)', and this is '\(name)'.")
        }
        let options = try query.odata(client.dialect)
        let call = call(.query(options, includesDeleted: includesDeleted), query.parameters)
        guard case .rows(let rows, let count) = try await answer(to: call).body else {
            throw SyncError(.internalError, "A list was taken for something else.")
        }
        guard count != nil || !query.includesTotalCount else {
            throw SyncError(.expectedTotalCount, "The server answered without the total count.")
        }
        var reader = WireRowReader(dialect: client.dialect, definition: nil)
        var items: [Item] = []
        items.reserveCapacity(rows.count)
        for row in rows {
            let row = reader.readPossible(row)
            // An id that cannot be stored can be shown.
            if let problem = row.problems.first(where: { $0.error.code != .invalidItemID }) {
                throw problem.error
            }
            items.append(row.item)
        }
        return QueryResult(items: items, totalCount: query.includesTotalCount ? count : nil)
    }

    private func call(_ action: RemoteCall.Action, _ parameters: [String: String]) -> RemoteCall {
        RemoteCall(action, table: name, parameters: parameters)
    }

    private func row(_ action: RemoteCall.Action, _ parameters: [String: String]) async throws -> Item {
        guard let row = try await answer(to: call(action, parameters)).row(dialect: client.dialect) else {
            throw SyncError(.internalError, "A row was taken for something else.")
        }
        return row.item
    }

    private func answer(to call: RemoteCall) async throws -> RemoteResponse {
        let answer: RemoteResponse
        do {
            answer = try await client.sendRefreshing(call)
        } catch let error as SyncError where error.code == .networkUnavailable {
            client.log?.recordRequest(call.kind, table: name, status: nil)
            throw error
        }
        client.log?.recordRequest(call.kind, table: name, status: answer.status)
        if let failure = answer.failure(of: call, dialect: client.dialect) { throw failure }
        return answer
    }
}
