// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

package import SyncCore

/// The text of an SQL statement and its arguments. Values from requests are always arguments.
package struct SQLText: Sendable {
    /// An argument of a statement.
    package enum Argument: Sendable {
        case integer(Int64)
        case text(String)
        /// A value that the functions of filters take.
        case value(ItemValue)
        /// The JSON of a value in the form of a stored field, which the database compares byte by byte.
        case json(ItemValue)
        /// A number that the database compares exactly with the numbers of fields.
        case number(ItemValue)
    }

    let database: SQLDatabase
    package private(set) var text = ""
    package private(set) var arguments: [Argument] = []

    package init(for database: SQLDatabase) { self.database = database }

    package mutating func append(_ text: String) { self.text += text }

    package mutating func append(_ argument: Argument) {
        arguments.append(argument)
        switch database {
        case .sqlite: text += "?"
        case .postgreSQL:
            let parameter = "$\(arguments.count)::\(argument.postgreSQLType)"
            if case .number(.double) = argument {
                // As the numbers of fields are made.
                text += "odata_exact(\(parameter))"
            } else {
                text += parameter
            }
        }
    }
}

extension SQLText.Argument {
    fileprivate var postgreSQLType: String {
        switch self {
        case .integer: "bigint"
        case .text, .value, .json: "text"
        case .number(.double): "float8"
        case .number: "numeric"
        }
    }
}

/// The databases differ in parameters, hints for indexes, and what is fast without a function.
package enum SQLDatabase: Sendable {
    case sqlite, postgreSQL
}
