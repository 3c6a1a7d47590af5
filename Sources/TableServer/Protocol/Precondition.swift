// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The `If-Match` and `If-None-Match` headers of a request for one row.
struct Precondition: Sendable {
    private let ifMatch: String?
    private let ifNoneMatch: String?
    private let dialect: TableServer.Dialect

    init(_ request: RecordedRequest, _ dialect: TableServer.Dialect) {
        self.dialect = dialect
        ifMatch = request.headerList("If-Match")
        // The server modelled for the older dialects ignores it.
        ifNoneMatch = dialect == .v3 ? request.headerList("If-None-Match") : nil
    }

    /// Whether the request names a version that the row must have.
    var isConditional: Bool { ifMatch != nil }

    /// Whether a write may change a row with this version.
    func allows(_ version: String) -> Bool { isMatched(version) && isModified(version) }

    /// Whether a row with this version is the one that the request names.
    func isMatched(_ version: String) -> Bool {
        guard let ifMatch else { return true }
        return switch dialect {
        // One version; `*` and weak tags match none.
        case .v1, .v2: EntityTag.version(inHeader: ifMatch) == version
        case .v3: EntityTag.list(ifMatch, contains: version, weakly: false)
        }
    }

    /// Whether a read has to return a row with this version: the client does not have it.
    func isModified(_ version: String) -> Bool {
        guard let ifNoneMatch else { return true }
        return !EntityTag.list(ifNoneMatch, contains: version, weakly: true)
    }
}
