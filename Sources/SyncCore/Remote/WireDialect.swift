// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import HTTPTypes

/// The spelling of the tables protocol that a server speaks: names, methods and literals, as data.
public struct WireDialect: Sendable, Hashable {
    /// The dialect's short name, such as `v2`.
    public let name: String
    /// The value of `ZUMO-API-VERSION`.
    let apiVersion: String?
    /// What the system properties are called on the wire.
    package let systemNames: SystemNames
    /// The parameter that asks for system properties, where they do not come by themselves.
    let systemPropertiesParameter: QueryParameter?
    /// Whether `$select` has to name the system properties for them to come.
    let selectsSystemProperties: Bool
    /// Where the rows of a list are when it is not a bare array.
    let listName: String
    /// The member that a list has when there is another page; `nil` when the dialect does not tell.
    let nextPageName: String?
    /// The method of an update.
    let updateMethod: HTTPRequest.Method
    /// Whether an update replaces the whole row, so that its body must have every field.
    package let updatesWholeRow: Bool
    /// The parameter that asks for the total count.
    let countParameter: QueryParameter
    /// The name of the parameter that brings tombstones into a list.
    let includeDeletedName: String
    /// What stands around the text of a date in a filter.
    let dateLiteral: Enclosure
    /// What follows an integer that needs more than 32 bits in a filter.
    let longSuffix: String
    /// The test whether a text contains another.
    let containment: Containment

    /// What the system properties are called on the wire.
    package struct SystemNames: Sendable, Hashable {
        package let createdAt: String
        package let updatedAt: String
        package let version: String
        package let deleted: String

        package var all: [String] { [createdAt, updatedAt, version, deleted] }

        /// The wire's name for a column of ours.
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

    /// Text before and after something.
    struct Enclosure: Hashable {
        let before: String
        let after: String
    }

    /// The function that tests whether a text contains a part, and the order of its arguments.
    struct Containment: Hashable {
        let function: String
        let takesPartFirst: Bool
    }
}

extension WireDialect {
    /// Azure Mobile Services, with system properties that begin with two underscores.
    public static let v1 = WireDialect(
        name: "v1", apiVersion: nil,
        systemNames: SystemNames(
            createdAt: "__createdAt", updatedAt: "__updatedAt", version: "__version", deleted: "__deleted"),
        systemPropertiesParameter: QueryParameter(name: "__systemproperties", value: "*"),
        selectsSystemProperties: false, listName: "results", nextPageName: nil, updateMethod: .patch,
        updatesWholeRow: false,
        countParameter: QueryParameter(name: "$inlinecount", value: "allpages"),
        includeDeletedName: "__includeDeleted",
        dateLiteral: Enclosure(before: "datetimeoffset'", after: "'"), longSuffix: "l",
        containment: Containment(function: "substringof", takesPartFirst: true))

    /// Azure Mobile Apps: the default.
    public static let v2 = WireDialect(
        name: "v2", apiVersion: "2.0.0",
        systemNames: SystemNames(
            createdAt: "createdAt", updatedAt: "updatedAt", version: "version", deleted: "deleted"),
        systemPropertiesParameter: nil,
        selectsSystemProperties: true, listName: "results", nextPageName: nil, updateMethod: .patch,
        updatesWholeRow: false,
        countParameter: QueryParameter(name: "$inlinecount", value: "allpages"),
        includeDeletedName: "__includeDeleted",
        dateLiteral: Enclosure(before: "datetimeoffset'", after: "'"), longSuffix: "l",
        containment: Containment(function: "substringof", takesPartFirst: true))

    /// The Datasync toolkit, whose queries are OData v4 and whose updates replace the whole row.
    public static let v3 = WireDialect(
        name: "v3", apiVersion: "3.0.0",
        systemNames: v2.systemNames, systemPropertiesParameter: nil,
        selectsSystemProperties: true, listName: "items", nextPageName: "nextLink", updateMethod: .put,
        updatesWholeRow: true,
        countParameter: QueryParameter(name: "$count", value: "true"),
        includeDeletedName: "__includedeleted",
        dateLiteral: Enclosure(before: "cast(", after: ",Edm.DateTimeOffset)"), longSuffix: "",
        containment: Containment(function: "contains", takesPartFirst: false))
}
