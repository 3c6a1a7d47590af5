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
        var columns: [String]?
        var permission: TableServer.Permission?
        var operations: [Substring: TableServer.Permission] = [:]
        for property in parts.dropFirst() {
            let words = property.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            switch property {
            case "soft": try Self.set(&softDelete, true, property)
            case "hard": try Self.set(&softDelete, false, property)
            case "per-user": try Self.set(&isPerUser, true, property)
            case _ where words.count == 2 && words[0] == "columns":
                let names = words[1].split(separator: "+", omittingEmptySubsequences: false)
                try Self.set(&columns, names.map(String.init), property)
            case _ where words.count == 2 && Self.operations.contains(words[0]):
                guard let value = TableServer.Permission(argument: words[1]) else {
                    throw ValidationError(
                        "'\(property)' is no permission: use \(words[0])=anonymous, \(words[0])=authenticated or "
                            + "\(words[0])=admin.")
                }
                try Self.set(&operations[words[0]], value, property)
            default:
                guard let value = TableServer.Permission(argument: property) else {
                    throw ValidationError(
                        "'\(property)' is no property of a table: use soft, hard, anonymous, authenticated, admin or "
                            + "per-user, read, insert, update or delete with a permission, such as delete=admin, or "
                            + "columns with names, such as columns=text+complete."
                    )
                }
                try Self.set(&permission, value, property)
            }
        }
        let others = permission ?? (isPerUser == true ? .authenticated : .anonymous)
        self.init(
            String(parts[0]), softDelete: softDelete ?? true,
            permissions: TableServer.Permissions(
                read: operations["read"] ?? others, insert: operations["insert"] ?? others,
                update: operations["update"] ?? others, delete: operations["delete"] ?? others),
            isPerUser: isPerUser ?? false, columns: columns)
    }

    private static let operations: Set<Substring> = ["read", "insert", "update", "delete"]

    private static func set<Value>(_ value: inout Value?, _ new: Value, _ property: Substring) throws {
        guard value == nil else {
            throw ValidationError(
                "'\(property)' repeats or excludes an earlier property: remove one of them.")
        }
        value = new
    }
}

extension TableServer.Permission {
    fileprivate init?(argument: Substring) {
        switch argument {
        case "anonymous": self = .anonymous
        case "authenticated": self = .authenticated
        case "admin": self = .admin
        default: return nil
        }
    }
}
