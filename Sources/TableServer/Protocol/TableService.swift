// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Logging
import SyncCore

/// The tables protocol: applies a request to the rows and returns the response, independent of HTTP connections.
struct TableService: Sendable {
    let settings: TableServer.Configuration
    let storage: any RowStorage
    /// `nil` if the server ignores tokens.
    var verifier: TokenVerifier?
    /// `nil` if clients may send any number of requests.
    var limit: RequestLimit?

    /// Applies a request and returns the response; the changes are committed when it returns.
    ///
    /// - Parameter stamp: The `updatedAt` of the changes; `nil` for the time of the transaction.
    func respond(to request: RecordedRequest, stamp: Timestamp? = nil) async -> ServerResponse {
        if let health = await health(request) { return health }
        guard let path = request.target, let table = settings.table(named: path.table) else {
            return .pathNotFound(request.method, request.path)
        }
        do {
            guard !request.isCrossSiteWrite else { throw RequestError.crossSiteWrite }
            let caller = try await caller(of: request)
            if let permission = table.permission(for: request) { try caller.require(permission) }
            guard request.isBodyComplete else {
                throw WriteBody.tooLarge(413, settings.maxBodySize(of: request.method))
            }
            let dialect = try TableServer.Dialect(of: request, settings: settings)
            let scope = RowScope(table: table, of: caller)
            if request.method == "GET" {
                if path.id == "changes", request.acceptsEvents {
                    return try await changes(request, of: path.table, scope, caller)
                }
                return try await read(request, path, scope, dialect)
            }
            let mayRead = (try? caller.require(table.permissions.read)) != nil
            let write = RowWrite(request, dialect, stamp, mayRead: mayRead, settings: settings)
            return try await apply(write, request, path, scope)
                ?? .pathNotFound(request.method, request.path)
        } catch {
            return response(to: error, in: request)
        }
    }

    /// Returns the response to a request that has failed, and logs what is not the client's fault.
    func response(to error: any Error, in request: RecordedRequest) -> ServerResponse {
        if let error = error as? RequestError {
            if let cause = error.cause { settings.logger.error("Request \(request.id) failed: \(cause)") }
            return error.response
        }
        // The error can contain SQL, which is not the client's business.
        settings.logger.error("Request \(request.id) failed: \(error)")
        return RequestError(
            status: 500, message: "The request failed on the server; its log has the reason."
        )
        .response
    }

    /// Returns the user of a request, and counts the request. One whose token is not valid counts for its address.
    private func caller(of request: RecordedRequest) async throws(RequestError) -> Caller {
        var address: String { "address \(request.remoteAddress)" }
        let caller: Caller
        do {
            caller = try await verifier?.caller(of: request) ?? .anonymous
        } catch {
            try limit?.count(address, at: settings.clock.now)
            throw error
        }
        try limit?.count(caller == .anonymous ? address : "user \(caller.id)", at: settings.clock.now)
        return caller
    }

    private func read(
        _ request: RecordedRequest, _ path: RequestPath, _ scope: RowScope, _ dialect: TableServer.Dialect
    ) async throws -> ServerResponse {
        if let id = path.id {
            return try await storage.read(scope) { rows in try read(rows, id: id, request, dialect) }
        }
        let parameters = try ListParameters(request.parameters, dialect, maxTop: settings.maxTop)
        return try await storage.read(scope, hasSeveralStatements: parameters.includesCount) { rows in
            try list(rows, scope, request, parameters, dialect)
        }
    }

    private func apply(
        _ write: RowWrite, _ request: RecordedRequest, _ path: RequestPath, _ scope: RowScope
    ) async throws -> ServerResponse? {
        let body: () throws -> WriteBody = {
            try WriteBody(request, write.dialect, scope.table, settings: settings)
        }
        let outcome: RowWrite.Outcome
        switch (request.method, path.id) {
        case ("POST", nil):
            let body = try body()
            outcome = try await storage.write(scope) { rows in try write.insert(rows, body) }
        case ("POST", let id?) where write.dialect != .v3:
            outcome = try await storage.write(scope) { rows in try write.undelete(rows, id: id) }
        case ("PATCH", let id?) where write.dialect != .v3:
            let body = try body()
            outcome = try await storage.write(scope) { rows in try write.update(rows, id: id, body) }
        case ("PUT", let id?) where write.dialect == .v3:
            let body = try body()
            let includesDeleted = write.dialect.includesDeleted(request.parameters)
            outcome = try await storage.write(scope) { rows in
                try write.replace(rows, id: id, body, includesDeleted: includesDeleted)
            }
        case ("DELETE", let id?):
            outcome = try await storage.write(scope) { rows in
                try write.delete(rows, id: id, isSoft: scope.table.softDelete)
            }
        default:
            return nil
        }
        return try write.response(to: outcome)
    }
}
