// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// A request of the next push.
struct PlannedPushRequest: Sendable {
    /// The position among the requests, from 1.
    let number: Int
    /// The id of the operation.
    let operation: Int64
    let method: String
    /// The path and query, without the path of the client's URL.
    let path: String
    /// The value of `If-Match`.
    let ifMatch: String?
    /// The number of the request whose response has the version in `If-Match`.
    let ifMatchOfRequest: Int?
    /// The fields in the body, without the id.
    let fields: [String: ItemValue]

    /// Whether the request reads the server's row to decide what is sent.
    var isRead: Bool { method == "GET" }
}
