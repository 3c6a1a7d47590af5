// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

struct Authorization: HTTPMiddleware {
    let token: String

    func intercept(
        _ request: HTTPTransportRequest, next: HTTPMiddlewareNext
    ) async throws -> HTTPTransportResponse {
        var request = request
        request.head.headerFields[.authorization] = "Bearer \(token)"
        return try await next(request)
    }
}
