// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// The user that sends a request.
enum Caller: Sendable, Hashable {
    case anonymous
    /// The token of the user is valid until `end`, by the server's clock.
    case user(id: String, isAdmin: Bool, end: Timestamp)

    /// The user's id, which is the owner of rows in per-user tables; empty without one.
    var id: String {
        if case .user(let id, _, _) = self { id } else { "" }
    }

    /// Until when the user's token is valid; `nil` without one.
    var end: Timestamp? {
        if case .user(_, _, let end) = self { end } else { nil }
    }

    /// - Throws: status 401 when the operation needs a user, 403 when it needs another one.
    func require(_ permission: TableServer.Permission) throws(RequestError) {
        switch (permission, self) {
        case (.anonymous, _), (.authenticated, .user), (.admin, .user(_, isAdmin: true, _)): return
        case (_, .anonymous): throw .unauthorized("This operation requires a user: the request has no token.")
        case (.admin, .user):
            throw RequestError(status: 403, message: "This operation requires an administrator.")
        }
    }
}

extension TableServer.Table {
    /// Returns the permission that a request needs; `nil` for a method that no table has.
    func permission(for request: RecordedRequest) -> TableServer.Permission? {
        switch request.method {
        case "GET": permissions.read
        case "POST": request.itemID == nil ? permissions.insert : permissions.update
        case "PATCH", "PUT": permissions.update
        case "DELETE": permissions.delete
        default: nil
        }
    }
}
