// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import HTTPTypes

/// A dialect of the tables protocol, as data: names, methods and literals.
public struct WireDialect: Sendable, Hashable {
    /// The dialect's short name, such as `v2`.
    public let name: String
    /// The value of `ZUMO-API-VERSION`.
    let apiVersion: String?
    /// The names of the system properties on the wire.
    package let systemNames: SystemNames
    /// The parameter that requests system properties, if the server does not return them by default.
    let systemPropertiesParameter: QueryParameter?
    /// The system properties that `$select` has to include. Servers of v3 have no `createdAt`, and refuse unknown names.
    let selectedSystemNames: [String]
    /// The member with the rows of a list, if the list is an object.
    let listName: String
    /// The member of a list that names the next page; `nil` if the dialect has none.
    let nextPageName: String?
    /// The method of an update.
    let updateMethod: HTTPRequest.Method
    /// Whether an update replaces the whole row, so that its body contains every field.
    package let updatesWholeRow: Bool
    /// Whether the server's columns are typed, as those of .NET: it refuses a whole number with a point for an integer, and
    /// fails with an empty response, for example when a write breaks a constraint of its database.
    let isTyped: Bool
    /// The parameter that requests the total count.
    let countParameter: QueryParameter
    /// The name of the parameter that includes tombstones in a list.
    let includeDeletedName: String
    /// The prefix and suffix of a date literal.
    let dateLiteral: LiteralAffixes
    /// The suffix of an integer literal that exceeds 32 bits.
    let longSuffix: String
    /// The function that tests whether a text contains another.
    let containment: Containment
    /// A filter that compares a column with more values than this is sent as `column in (…)`; `nil` if the dialect has no lists.
    /// OData v4 services of .NET refuse filters with more than a hundred operators, names and constants.
    let maxAlternatives: Int?

    /// The names of the system properties on the wire.
    package struct SystemNames: Sendable, Hashable {
        package let createdAt: String
        package let updatedAt: String
        package let version: String
        package let deleted: String

        package var all: [String] { [createdAt, updatedAt, version, deleted] }

        /// Whether it is the name of a system property.
        func contains(_ name: String) -> Bool {
            name == createdAt || name == updatedAt || name == version || name == deleted
        }

        /// Returns the name of a column on the wire.
        func name(of column: String) -> String {
            switch column {
            case "createdAt": createdAt
            case "updatedAt": updatedAt
            case "version": version
            case "deleted": deleted
            default: column
            }
        }
    }

    /// The prefix and suffix of a literal.
    struct LiteralAffixes: Hashable {
        let prefix: String
        let suffix: String
    }

    /// The name of the function that tests whether a text contains another, and the order of its arguments.
    struct Containment: Hashable {
        let function: String
        let takesPartFirst: Bool
    }
}

extension WireDialect {
    /// Azure Mobile Services: the names of system properties begin with two underscores.
    public static let v1 = WireDialect(
        name: "v1", apiVersion: nil,
        systemNames: SystemNames(
            createdAt: "__createdAt", updatedAt: "__updatedAt", version: "__version", deleted: "__deleted"),
        systemPropertiesParameter: QueryParameter(name: "__systemproperties", value: "*"),
        selectedSystemNames: [], listName: "results", nextPageName: nil, updateMethod: .patch,
        updatesWholeRow: false, isTyped: false,
        countParameter: QueryParameter(name: "$inlinecount", value: "allpages"),
        includeDeletedName: "__includeDeleted",
        dateLiteral: LiteralAffixes(prefix: "datetimeoffset'", suffix: "'"), longSuffix: "l",
        containment: Containment(function: "substringof", takesPartFirst: true), maxAlternatives: nil)

    /// Azure Mobile Apps: the default.
    public static let v2 = WireDialect(
        name: "v2", apiVersion: "2.0.0",
        systemNames: SystemNames(
            createdAt: "createdAt", updatedAt: "updatedAt", version: "version", deleted: "deleted"),
        systemPropertiesParameter: nil,
        selectedSystemNames: ["createdAt", "updatedAt", "version", "deleted"], listName: "results",
        nextPageName: nil, updateMethod: .patch, updatesWholeRow: false, isTyped: false,
        countParameter: QueryParameter(name: "$inlinecount", value: "allpages"),
        includeDeletedName: "__includeDeleted",
        dateLiteral: LiteralAffixes(prefix: "datetimeoffset'", suffix: "'"), longSuffix: "l",
        containment: Containment(function: "substringof", takesPartFirst: true), maxAlternatives: nil)

    /// The Datasync toolkit: OData v4, and updates replace the whole row.
    public static let v3 = WireDialect(
        name: "v3", apiVersion: "3.0.0",
        systemNames: v2.systemNames, systemPropertiesParameter: nil,
        selectedSystemNames: ["updatedAt", "version", "deleted"], listName: "items",
        nextPageName: "nextLink", updateMethod: .put, updatesWholeRow: true, isTyped: true,
        countParameter: QueryParameter(name: "$count", value: "true"),
        includeDeletedName: "__includedeleted",
        dateLiteral: LiteralAffixes(prefix: "cast(", suffix: ",Edm.DateTimeOffset)"), longSuffix: "",
        containment: Containment(function: "contains", takesPartFirst: false), maxAlternatives: 4)
}
