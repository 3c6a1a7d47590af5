// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// An error of the server itself; what it answers to clients is not an error here.
public struct TableServerError: Error, Sendable, CustomStringConvertible {
    /// What went wrong.
    public let code: Code
    /// A sentence for the reader.
    public let message: String
    /// The error underneath, when there is one.
    public let cause: (any Error)?

    init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// What can go wrong.
    public struct Code: Sendable, Hashable {
        private enum Value { case configuration, binding, storage, unknownTable, invalidRow }
        private let value: Value

        /// The configuration makes no sense.
        public static let configuration = Code(value: .configuration)
        /// The address cannot be bound.
        public static let binding = Code(value: .binding)
        /// The file cannot be opened, read or written.
        public static let storage = Code(value: .storage)
        /// The server was not configured with that table.
        public static let unknownTable = Code(value: .unknownTable)
        /// The row cannot be kept.
        public static let invalidRow = Code(value: .invalidRow)
    }

    /// The message.
    public var description: String { message }
}
