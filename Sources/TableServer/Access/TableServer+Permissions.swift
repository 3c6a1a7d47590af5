// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension TableServer {
    /// Who may do an operation of a table.
    public enum Permission: Sendable, Hashable, CaseIterable {
        /// Every client.
        case anonymous
        /// Users with a valid token; others get status 401.
        case authenticated
        /// Users whose token has the role ``Authentication/adminRole``; other users get status 403.
        case admin
    }

    /// Who may do each operation of a table.
    public struct Permissions: Sendable, Hashable {
        /// Reading rows and lists.
        public var read: Permission
        /// Inserting rows.
        public var insert: Permission
        /// Updating and undeleting rows.
        public var update: Permission
        /// Deleting rows.
        public var delete: Permission

        /// Creates permissions for each operation.
        public init(read: Permission, insert: Permission, update: Permission, delete: Permission) {
            self.read = read
            self.insert = insert
            self.update = update
            self.delete = delete
        }

        /// Creates permissions that are the same for all operations.
        public init(_ permission: Permission) {
            self.init(read: permission, insert: permission, update: permission, delete: permission)
        }

        var all: [Permission] { [read, insert, update, delete] }
    }
}
