// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// An error of the server's API. Error responses to clients are not errors of this type.
public struct TableServerError: Error, Sendable, CustomStringConvertible {
    /// The kind of error.
    public let code: Code
    /// What happened, in a sentence.
    public let message: String
    /// The underlying error, if any.
    public let cause: (any Error)?

    package init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// The kind of a ``TableServerError``.
    public struct Code: Sendable, Hashable {
        private enum Value { case configuration, binding, storage, unknownTable, invalidRow }
        private let value: Value

        /// The configuration is invalid.
        public static let configuration = Code(value: .configuration)
        /// The address cannot be bound.
        public static let binding = Code(value: .binding)
        /// The file or the database cannot be opened, read or written.
        public static let storage = Code(value: .storage)
        /// The server does not have the table.
        public static let unknownTable = Code(value: .unknownTable)
        /// The row is invalid, or does not exist.
        public static let invalidRow = Code(value: .invalidRow)
    }

    /// The message.
    public var description: String { message }
}

extension TableServerError: LocalizedError {
    /// The message.
    public var errorDescription: String? { message }
}
