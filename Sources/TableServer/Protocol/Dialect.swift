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
    /// Chooses the dialect of a request.
    ///
    /// - Throws: status 400 when the request names an unknown API version, or none although the server requires one.
    init(of request: RecordedRequest, settings: TableServer.Configuration) throws(RequestError) {
        let name = "ZUMO-API-VERSION"
        let version = request.header(name) ?? request.parameters.first { $0.name == name }?.value
        guard let version else {
            if request.header("X-ZUMO-APPLICATION") != nil {
                self = .v1
            } else if settings.requiresAPIVersion {
                throw Self.invalidVersion("none")
            } else {
                self = settings.dialectWithoutVersion
            }
            return
        }
        let parts = version.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[1] == "0", Int(parts[2]) != nil else {
            throw Self.invalidVersion(version)
        }
        switch parts[0] {
        case "2": self = .v2
        case "3": self = .v3
        default: throw Self.invalidVersion(version)
        }
    }

    private static func invalidVersion(_ version: String) -> RequestError {
        .badRequest("An invalid API version was specified in the request: \(version).")
    }

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

    /// Whether a list includes tombstones.
    func includesDeleted(_ parameters: [QueryParameter]) -> Bool {
        switch self {
        case .v1, .v2: parameters.contains { $0.name == "__includeDeleted" && !$0.value.isEmpty }
        case .v3:
            parameters.contains {
                $0.name.asciiLowercased == "__includedeleted" && $0.value.asciiLowercased == "true"
            }
        }
    }
}
