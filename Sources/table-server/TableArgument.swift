// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import TableServer

/// A table on the command line: `NAME`, followed by properties that each begin with a colon.
struct TableArgument: ExpressibleByArgument {
    let table: TableServer.Table

    init?(argument: String) {
        let parts = argument.split(separator: ":", omittingEmptySubsequences: false)
        var (softDelete, isPerUser) = (true, false)
        var permission: TableServer.Permission?
        for property in parts.dropFirst() {
            switch property {
            case "soft": softDelete = true
            case "hard": softDelete = false
            case "anonymous": permission = .anonymous
            case "authenticated": permission = .authenticated
            case "admin": permission = .admin
            case "per-user": isPerUser = true
            default: return nil
            }
        }
        table = TableServer.Table(
            String(parts[0]), softDelete: softDelete,
            permissions: TableServer.Permissions(permission ?? (isPerUser ? .authenticated : .anonymous)),
            isPerUser: isPerUser)
    }
}
