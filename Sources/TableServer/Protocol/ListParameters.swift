// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

/// The parameters of a list request.
struct ListParameters {
    var filter: String?
    var ordering: String?
    var select: [String]?
    var skip = 0
    var top: Int?
    var includesCount = false
    var includesDeleted = false

    init(
        _ parameters: [QueryParameter], _ dialect: TableServer.Dialect, maxTop: Int
    ) throws(RequestError) {
        includesDeleted = dialect.includesDeleted(parameters)
        var seen: Set<String> = []
        for parameter in parameters {
            let (name, value) = (parameter.name, parameter.value)
            guard name.hasPrefix("$") || name.asciiLowercased == "__includedeleted" else { continue }
            guard !parameter.isMalformed else {
                throw .badRequest("The value of '\(name)' is not the percent-encoding of a text.")
            }
            guard seen.insert(name).inserted else {
                throw .badRequest("The parameter '\(name)' is given twice.")
            }
            switch name {
            case "$filter": filter = value.isEmpty ? nil : value
            case "$orderby": ordering = value.isEmpty ? nil : value
            case "$select": select = value.isEmpty || value == "*" ? nil : Self.names(value)
            case "$skip": skip = try Self.count(value, of: name)
            case "$top": top = try Self.count(value, of: name)
            case "$inlinecount" where dialect != .v3:
                includesCount = try Self.choice(value, of: name, "allpages", "none")
            case "$count" where dialect == .v3:
                includesCount = try Self.choice(value, of: name, "true", "false")
            case let name where !name.hasPrefix("$"): break
            default: throw .badRequest("The parameter '\(name)' is not supported.")
            }
        }
        if let top, top > maxTop { throw .badRequest("'$top' must be at most \(maxTop), not \(top).") }
    }

    private static func names(_ list: String) -> [String] {
        list.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
    }

    /// Whether the value is the first of two possible ones.
    private static func choice(
        _ value: String, of name: String, _ first: String, _ second: String
    ) throws(RequestError) -> Bool {
        guard value == first || value == second else {
            throw .badRequest("'\(name)' must be '\(first)' or '\(second)', not '\(value)'.")
        }
        return value == first
    }

    /// The maximum number of rows in a window, far from an overflow of sums.
    static let maxCount = 1 << 53

    private static func count(_ value: String, of name: String) throws(RequestError) -> Int {
        guard value.utf8.allSatisfy(\.isASCIIDigit), let count = Int(value), count <= maxCount else {
            throw .badRequest(
                "'\(name)' must be a whole number from 0 to \(maxCount), not '\(value)'.")
        }
        return count
    }
}
