// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Logging
import SyncCore

/// The tables protocol: applies a request to the rows and returns the response, independent of HTTP connections.
struct TableService: Sendable {
    let settings: TableServer.Configuration
    let rowStore: RowStore

    /// The current time, truncated to the fraction digits that the server stores.
    var stamp: Timestamp {
        settings.clock.now.showing(fractionDigits: settings.keptFractionDigits ?? settings.fractionDigits)
    }

    /// Applies a request and returns the response; the changes are committed when it returns.
    ///
    /// - Parameter stamp: The `updatedAt` of the changes.
    func respond(to request: RecordedRequest, stamp: Timestamp) async -> ServerResponse {
        if let health = health(request) { return health }
        guard let path = request.target, let tableKey = settings.tableKey(of: path.table) else {
            return .pathNotFound(request.method, request.path)
        }
        do {
            try checkAPIVersion(request)
            return try await route(request, path, tableKey, stamp)
                ?? .pathNotFound(request.method, request.path)
        } catch let error as RequestError {
            return error.response
        } catch {
            settings.logger.error("Request \(request.id) failed: \(error)")
            return RequestError(status: 500, message: "The request failed on the server: \(error)").response
        }
    }

    private func checkAPIVersion(_ request: RecordedRequest) throws {
        guard settings.requiresAPIVersion else { return }
        let name = "ZUMO-API-VERSION"
        let version = request.header(name) ?? request.parameters.first { $0.name == name }?.value
        guard let version, version.hasPrefix("2.0."), Int(version.dropFirst(4)) != nil else {
            throw RequestError.badRequest(
                "An invalid API version was specified in the request: \(version ?? "none").")
        }
    }

    private func route(
        _ request: RecordedRequest, _ path: RequestPath, _ tableKey: String, _ stamp: Timestamp
    ) async throws -> ServerResponse? {
        let precondition = request.header("If-Match").map(EntityTag.version(inHeader:))
        switch (request.method, path.id) {
        case ("GET", nil):
            return try rowStore.read(tableKey) { rows in try list(rows, request) }
        case ("GET", let id?):
            return try rowStore.read(tableKey) { rows in try read(rows, id: id) }
        case ("POST", nil):
            let body = try WriteBody(request, settings: settings)
            return try await rowStore.write(tableKey) { rows in try insert(rows, body, stamp) }
        case ("POST", let id?):
            return try await rowStore.write(tableKey) { rows in
                try undelete(rows, id: id, precondition, stamp)
            }
        case ("PATCH", let id?):
            let body = try WriteBody(request, settings: settings)
            return try await rowStore.write(tableKey) { rows in
                try update(rows, id: id, body, precondition, stamp)
            }
        case ("DELETE", let id?):
            return try await rowStore.write(tableKey) { rows in try delete(rows, id: id, precondition, stamp)
            }
        default:
            return nil
        }
    }
}
