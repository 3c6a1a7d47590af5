// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Logging
import SyncCore

/// What a supervisor or a load balancer asks.
extension TableService {
    /// Returns the response to a request for the server's health; `nil` for any other request.
    func health(_ request: RecordedRequest) async -> ServerResponse? {
        guard request.method == "GET" else { return nil }
        switch request.path {
        case "/health/live": return .value(["status": "live"])
        case "/health/ready":
            do {
                try await storage.checkReadiness()
                return .value(["status": "ready"])
            } catch {
                let cause = (error as? RequestError)?.cause ?? error
                settings.logger.error("The rows cannot be read: \(cause)")
                return .value(["status": "unavailable"], status: 503)
            }
        default: return nil
        }
    }
}
