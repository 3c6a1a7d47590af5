// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

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
        .badRequest(
            "An invalid API version was specified in the request: \(version). "
                + "Send the header ZUMO-API-VERSION with 2.0.0 or 3.0.0, or X-ZUMO-APPLICATION for dialect v1."
        )
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
