// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Logging
import SyncCore

/// The tables protocol over rows: takes a request, changes rows, and says what to answer. Knows nothing of HTTP
/// connections.
struct TableService: Sendable {
    let settings: TableServer.Configuration
    let book: RowStore

    /// The time of a change made now, cut to the digits that the server keeps.
    var stamp: Timestamp {
        settings.clock.now.showing(fractionDigits: settings.keptFractionDigits ?? settings.fractionDigits)
    }

    /// Answers a request; its changes are made when this returns.
    ///
    /// - Parameter stamp: When its changes count as made.
    func answer(_ request: RecordedRequest, stamp: Timestamp) async -> Answer {
        guard let path = request.target, let tableKey = settings.tableKey(of: path.table) else {
            return .noSuchPath(request.method, request.path)
        }
        do {
            try checkAPIVersion(request)
            return try await route(request, path, tableKey, stamp)
                ?? .noSuchPath(request.method, request.path)
        } catch let refusal as Refusal {
            return refusal.answer
        } catch {
            settings.logger.error("Request \(request.id) failed: \(error)")
            return Refusal(status: 500, message: "The server failed: \(error)").answer
        }
    }

    private func checkAPIVersion(_ request: RecordedRequest) throws {
        guard settings.requiresAPIVersion else { return }
        let name = "ZUMO-API-VERSION"
        let version = request.header(name) ?? request.parameters.first { $0.name == name }?.value
        guard let version, version.hasPrefix("2.0."), Int(version.dropFirst(4)) != nil else {
            throw Refusal.badRequest(
                "An invalid API version was specified in the request: \(version ?? "none").")
        }
    }

    private func route(
        _ request: RecordedRequest, _ path: RequestPath, _ tableKey: String, _ stamp: Timestamp
    ) async throws -> Answer? {
        let precondition = request.header("If-Match").map(EntityTag.version(inHeader:))
        switch (request.method, path.id) {
        case ("GET", nil):
            return try book.read(tableKey) { rows in try list(rows, request) }
        case ("GET", let id?):
            return try book.read(tableKey) { rows in try read(rows, id: id) }
        case ("POST", nil):
            let body = try WriteBody(request, settings: settings)
            return try await book.write(tableKey) { rows in try insert(rows, body, stamp) }
        case ("POST", let id?):
            return try await book.write(tableKey) { rows in try undelete(rows, id: id, precondition, stamp) }
        case ("PATCH", let id?):
            let body = try WriteBody(request, settings: settings)
            return try await book.write(tableKey) { rows in
                try update(rows, id: id, body, precondition, stamp)
            }
        case ("DELETE", let id?):
            return try await book.write(tableKey) { rows in try delete(rows, id: id, precondition, stamp) }
        default:
            return nil
        }
    }
}
