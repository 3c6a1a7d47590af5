// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import TableServer

extension TableServer.Table {
    /// Reads a table of the command line: `NAME`, followed by properties that each begin with a colon.
    ///
    /// - Throws: `ValidationError` when a property is unknown, or excludes an earlier one.
    init(argument: String) throws {
        let parts = argument.split(separator: ":", omittingEmptySubsequences: false)
        var (softDelete, isPerUser): (Bool?, Bool?)
        var permission: TableServer.Permission?
        for property in parts.dropFirst() {
            switch property {
            case "soft": try Self.set(&softDelete, true, property)
            case "hard": try Self.set(&softDelete, false, property)
            case "anonymous": try Self.set(&permission, .anonymous, property)
            case "authenticated": try Self.set(&permission, .authenticated, property)
            case "admin": try Self.set(&permission, .admin, property)
            case "per-user": try Self.set(&isPerUser, true, property)
            default:
                throw ValidationError(
                    "'\(property)' is no property of a table: use soft, hard, anonymous, authenticated, admin or per-user."
                )
            }
        }
        self.init(
            String(parts[0]), softDelete: softDelete ?? true,
            permissions: TableServer.Permissions(
                permission ?? (isPerUser == true ? .authenticated : .anonymous)),
            isPerUser: isPerUser ?? false)
    }

    private static func set<Value>(_ value: inout Value?, _ new: Value, _ property: Substring) throws {
        guard value == nil else {
            throw ValidationError(
                "'\(property)' repeats or excludes an earlier property: remove one of them.")
        }
        value = new
    }
}
