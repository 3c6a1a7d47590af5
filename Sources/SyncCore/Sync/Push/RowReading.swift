// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension OperationAttempt {
    /// Reads the server's row by its id, and else in a list: only lists contain tombstones, and a gateway that has no route to the
    /// server returns no row by id.
    func readRow() async throws -> AttemptResponse {
        var fetched = try await send(.read(id: operation.itemID))
        if fetched.classification == .rowMissing { fetched = try await readListedRow() }
        let isSignedIn = context.client.authenticationToken != nil
        if fetched.classification == .unauthenticated, !isSignedIn, !requests.hasWritten {
            context.unauthorized.recordHiddenRow(of: operation.id)
        }
        return fetched
    }

    /// Reads the server's row in a list of the rows with this id.
    ///
    /// The version of a tombstone is the condition of a later undelete, which otherwise could overwrite a row that another
    /// client has undeleted. One without a version is none.
    ///
    /// - Returns: the response, as one to a read by id.
    func readListedRow() async throws -> AttemptResponse {
        let dialect = context.client.dialect
        let query = TableQuery(definition.name).where(.column("id") == operation.itemID)
        let call = RemoteCall(
            .query(try query.odata(dialect), includesDeleted: true), table: definition.name,
            features: .offline)
        let response = try await context.send(call)
        var result = AttemptResponse(
            status: response.status, classification: response.classification, message: response.message,
            retryAfter: response.retryAfter)
        // A list is never gone: a gateway that has no route to the server says so of everything.
        if response.status == 410, response.classification == .refused {
            result.classification = .tableMissing
        }
        // A server that refuses the query does not list the row either.
        guard [.done, .refused].contains(result.classification) else { return result }
        result.classification = .rowMissing
        guard case .rows(let rows, _) = response.body, let row = rows.first else { return result }
        var reader = WireRowReader(dialect: dialect, definition: nil)
        let shown = reader.readRecordingProblems(row).item
        guard shown.id.hasSameBytes(as: operation.itemID),
            shown.system.version != nil || !shown.system.deleted
        else { return result }
        result.classification = .done
        result.read(shown, definition)
        return result
    }
}
