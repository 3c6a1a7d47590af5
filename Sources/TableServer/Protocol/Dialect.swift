// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension TableServer {
    /// A dialect of the tables protocol. Each request chooses one by its headers.
    public enum Dialect: Sendable, Hashable, CaseIterable {
        /// Azure Mobile Services: no `ZUMO-API-VERSION`, but `X-ZUMO-APPLICATION`. The names of system properties begin
        /// with `__`, and responses contain those that `__systemproperties` requests.
        case v1
        /// Azure Mobile Apps: `ZUMO-API-VERSION: 2.0.x`.
        case v2
        /// The Datasync toolkit: `ZUMO-API-VERSION: 3.0.x`. Filters are OData v4, and updates replace the whole row.
        case v3
    }
}

extension TableServer.Dialect {
    /// The prefix of the names of system properties.
    var systemPrefix: String { self == .v1 ? "__" : "" }

    /// Whether a list is always an object with the member `items`; if not, it is an array, or an object with the member
    /// `results` if the request asks for the count.
    var listsItems: Bool { self == .v3 }

    /// Returns the system column with this name, without regard to case.
    func systemColumn(named name: String) -> ODataColumn? {
        let folded = name.asciiLowercased
        if folded == "id" { return .id }
        guard folded.hasPrefix(systemPrefix) else { return nil }
        return switch folded.dropFirst(systemPrefix.count) {
        case "createdat": .createdAt
        case "updatedat": .updatedAt
        case "version": .version
        case "deleted": .deleted
        default: nil
        }
    }

    /// Whether a dialect has a system column with this name, without regard to case. A field of this name would hide it from
    /// clients of that dialect.
    static func isSystemName(_ name: some Collection<UInt8>) -> Bool {
        systemNames.contains { systemName in
            systemName.count == name.count
                && zip(systemName, name).allSatisfy { $0 == $1.asciiLowercased }
        }
    }

    /// The names of the system columns in all dialects, in lower case.
    private static let systemNames = Set(
        allCases.flatMap { dialect in
            ["createdat", "updatedat", "version", "deleted"].map { dialect.systemPrefix + $0 } + ["id"]
        }
    ).map { Array($0.utf8) }
}
