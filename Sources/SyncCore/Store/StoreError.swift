// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// An error of a store: a code for programs, a message for people, and the cause.
public struct StoreError: Error, Sendable {
    /// What went wrong.
    public let code: Code
    /// A sentence that says what happened and what to do.
    public let message: String
    /// The error of the database.
    public let cause: (any Error)?

    /// Makes an error.
    public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// What went wrong in a store. A store throws one of these codes.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private let name: String
        private init(_ name: String) { self.name = name }

        /// The name of the code.
        public var description: String { name }

        /// The store cannot do this: an id, a query or a table exceeds its limits, or the call is outside a transaction.
        public static let unsupported = Self("unsupported")
        /// The store was closed.
        public static let closed = Self("closed")
        /// The file is open elsewhere and cannot be shared, or can be shared only by processes with the same columns.
        public static let alreadyOpen = Self("alreadyOpen")
        /// The file cannot be opened: its directory does not exist, it is not a regular file, or access is denied.
        public static let cannotOpen = Self("cannotOpen")
        /// The file is not a store of this kind, or is damaged.
        public static let corrupt = Self("corrupt")
        /// The file was written by a newer version of this framework.
        public static let newerFormat = Self("newerFormat")
        /// A table or column of the database does not fit its declaration, or a constraint of the app's table refuses an item.
        public static let schemaMismatch = Self("schemaMismatch")
        /// The disk or the database is full.
        public static let full = Self("full")
        /// The database failed to read or write.
        public static let inputOutput = Self("inputOutput")
        /// The server of the database cannot be reached at the moment, or asks for another attempt. Nothing has changed, and
        /// a later call may succeed.
        public static let unavailable = Self("unavailable")
        /// It is not known whether the transaction was committed: the connection was lost after the commit was sent, or the
        /// drive has not confirmed it. Read the store to find out: all later reads and writes see the same outcome. After a
        /// drive that has not confirmed the commit, the next opening may find the other one: read again after it. Do not
        /// repeat the write blindly.
        public static let outcomeUnknown = Self("outcomeUnknown")
    }
}

extension StoreError: CustomStringConvertible {
    /// The message, the code and the cause.
    public var description: String {
        let because = cause.map { " Cause: \($0)" } ?? ""
        return "\(message) (store error: \(code))\(because)"
    }
}
