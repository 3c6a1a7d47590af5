// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import SyncCore
import TestSupport

/// The requests to a server whose tables have no system columns, or lack some of them.
struct TransportWithoutVersions: HTTPTransport {
    /// The columns that the tables lack.
    var columns = "createdAt|updatedAt|version"

    func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        var response = try await URLSessionTransport.patient.send(request)
        if columns.contains("version") { response.head.headerFields[.eTag] = nil }
        let column = "\"(\(columns))\":\"[^\"]*\""
        let body = String(decoding: response.body, as: UTF8.self)
        response.body = Data(body.replacing(try Regex(",\(column)|\(column),"), with: "").utf8)
        return response
    }
}
