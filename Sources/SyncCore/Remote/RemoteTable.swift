// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Direct access to a table of the server: nothing is stored locally, and nothing works offline.
///
/// ```swift
/// let todos = client.table("TodoItem")
/// let item = try await todos.insert(["text": "Milk", "complete": false])
/// try await todos.delete(id: item.id, version: item.system.version)
/// ```
///
/// Fields have JSON types: dates and binary data are sent and returned as text. Every method accepts the app's query
/// parameters, whose names do not begin with `$`.
///
/// Each method sends one request, and a second one with a new token if the server requires it and the client can refresh
/// the token. The methods throw ``SyncError``:
/// - ``SyncError/Code/networkUnavailable``, may retry: no complete response arrived; the server may or may not have
///   applied the request;
/// - ``SyncError/Code/authenticationRequired``: the user must sign in; if it may be retried, the token could not be refreshed;
/// - ``SyncError/Code/itemNotOnServer``, ``SyncError/Code/tableNotOnServer``;
/// - ``SyncError/Code/serviceUnavailable``, may retry: the service is busy or stopped, or a gateway responded; the server may
///   or may not have applied the request;
/// - ``SyncError/Code/serverError``, ``SyncError/Code/serverErrorWithoutMessage``: the server refused the request; if it may
///   be retried, the server failed and may have applied it;
/// - ``SyncError/Code/unreadableResponse``, ``SyncError/Code/expectedItemInResponse``,
///   ``SyncError/Code/expectedItemsInResponse``, may retry: the response has no row or no list; the server may or may not
///   have applied the request;
/// - ``SyncError/Code/invalidConfiguration``: the configuration of the client prevents every request; nothing was sent;
/// - ``SyncError/Code/invalidItem``, ``SyncError/Code/invalidItemID``, ``SyncError/Code/invalidRequest``,
///   ``SyncError/Code/invalidUserParameter``, ``SyncError/Code/missingTableName``: nothing was sent.
///
/// A cancelled task throws `CancellationError`.
public struct RemoteTable: Sendable {
    /// The client that sends the requests.
    public let client: SyncClient
    /// The table's name.
    public let name: String

    fileprivate init(client: SyncClient, name: String) {
        self.client = client
        self.name = name
    }
}

extension SyncClient {
    /// Returns the server's table of that name. No request is sent: the first request reports a missing table.
    public func table(_ name: String) -> RemoteTable {
        RemoteTable(client: self, name: name)
    }
}

extension RemoteTable {
    /// Creates a row, and returns the server's row.
    ///
    /// - Parameter id: the new row's id; with `nil` the server generates one, and an insert that is sent again makes another row.
    /// - Throws: ``SyncError/Code/itemAlreadyOnServer`` when the server already has a row of that id, with a
    ///   ``ServerConflict`` as cause; others as listed for the type.
    public func insert(
        _ fields: [String: ItemValue], id: String? = nil, parameters: [String: String] = [:]
    ) async throws -> Item {
        try await row(.insert(id: id, fields: fields), parameters)
    }

    /// Updates the server's row with the item's fields if the row has the item's version, and returns the new row.
    ///
    /// An item without a version overwrites any version.
    ///
    /// - Throws: ``SyncError/Code/preconditionFailed`` when the server has another version, with a
    ///   ``ServerConflict`` as cause; others as listed for the type.
    public func update(_ item: Item, parameters: [String: String] = [:]) async throws -> Item {
        try await update(
            id: item.id, item.fields, version: item.system.version, parameters: parameters)
    }

    /// Updates these fields of the server's row if the row has this version, and returns the new row.
    ///
    /// Other fields are not changed, except in dialect ``WireDialect/v3``, where they are removed.
    ///
    /// - Throws: as ``update(_:parameters:)``.
    public func update(
        id: String, _ fields: [String: ItemValue], version: String?, parameters: [String: String] = [:]
    ) async throws -> Item {
        try await row(.update(id: id, fields: fields, version: version), parameters)
    }

    /// Deletes the server's row if it has this version; `nil` deletes any version.
    ///
    /// - Throws: ``SyncError/Code/preconditionFailed`` when the server has another version, with a
    ///   ``ServerConflict`` as cause; others as listed for the type.
    public func delete(
        id: String, version: String?, parameters: [String: String] = [:]
    ) async throws {
        _ = try await response(to: call(.delete(id: id, version: version), parameters))
    }

    /// Restores a soft-deleted row, and returns it.
    ///
    /// - Parameter fields: all fields of the row in dialect ``WireDialect/v3``; other dialects do not send them.
    /// - Throws: as ``update(_:parameters:)``.
    public func undelete(
        id: String, version: String?, fields: [String: ItemValue] = [:], parameters: [String: String] = [:]
    ) async throws -> Item {
        try await row(.undelete(id: id, fields: fields, version: version), parameters)
    }

    /// Returns one row. A soft-deleted row is missing.
    public func read(id: String, parameters: [String: String] = [:]) async throws -> Item {
        try await row(.read(id: id), parameters)
    }

    /// Returns the rows that match a query of this table, with one request.
    ///
    /// Servers limit the number of rows in a response, so there may be more rows even if fewer than the limit are
    /// returned. The query's parameters are sent. Rows with invalid ids are returned, but cannot be written.
    ///
    /// - Parameter includesDeleted: whether soft-deleted rows are included.
    /// - Throws: ``SyncError/Code/invalidParameter`` for a query of another table, or a negative offset or limit;
    ///   ``SyncError/Code/filterNotSupported`` when OData cannot express the query,
    ///   ``SyncError/Code/expectedTotalCount`` when the query includes the total count and the server does not return it;
    ///   others as listed for the type.
    public func query(_ query: TableQuery, includesDeleted: Bool = false) async throws -> QueryResult {
        try query.require(table: name)
        let options = try query.odata(client.dialect)
        let call = call(.query(options, includesDeleted: includesDeleted), query.parameters)
        guard case .rows(let rows, let count) = try await response(to: call).body else {
            throw SyncError(.internalError, "The response to a query was not classified as a list.")
        }
        guard count != nil || !query.includesTotalCount else {
            throw SyncError(.expectedTotalCount, "The response of the server has no total count.")
        }
        var reader = WireRowReader(dialect: client.dialect, definition: nil)
        var items: [Item] = []
        items.reserveCapacity(rows.count)
        for row in rows {
            let row = reader.readRecordingProblems(row)
            // Rows with invalid ids cannot be stored, but can be returned.
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
        let response = try await response(to: call(action, parameters))
        guard !response.lacksMalformedValues else {
            throw SyncError(
                .unreadableResponse, "The row in the response has a value that is not valid JSON.",
                mayRetry: true)
        }
        guard let row = try response.row(dialect: client.dialect) else {
            throw SyncError(.internalError, "The response was not classified as a row.")
        }
        return row.item
    }

    func response(to call: RemoteCall) async throws -> RemoteResponse {
        let response: RemoteResponse
        do {
            response = try await client.sendRefreshing(call)
        } catch let error as SyncError where error.code == .networkUnavailable {
            client.log?.recordRequest(call.kind, table: name, status: nil)
            throw error
        }
        client.log?.recordRequest(call.kind, table: name, status: response.status)
        if let failure = response.failure(of: call, dialect: client.dialect, below: client.url) {
            throw failure
        }
        return response
    }
}
