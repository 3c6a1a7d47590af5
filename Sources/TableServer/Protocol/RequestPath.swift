// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The table or item in a request's path.
enum RequestPath: Sendable, Equatable {
    case table(String)
    case item(table: String, id: String)

    /// Parses an encoded path: `/tables/{table}` or `/tables/{table}/{id}`.
    ///
    /// The path is split before its segments are decoded, so that an id can contain `%2F`.
    ///
    /// - Returns: `nil` for any other path, and for a segment that does not decode to UTF-8.
    init?(rawPath: String) {
        var segments = rawPath.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        if segments.count > 2, segments.last == "" { segments.removeLast() }
        guard (2...3).contains(segments.count), segments.first?.hasSameName(as: "tables") == true,
            let table = segments.dropFirst().first?.percentDecoded, !table.isEmpty
        else { return nil }
        guard segments.count == 3 else {
            self = .table(table)
            return
        }
        guard let id = segments.last?.percentDecoded, !id.isEmpty else { return nil }
        self = .item(table: table, id: id)
    }

    /// The table's name, as the client spells it.
    var table: String {
        switch self {
        case .table(let table), .item(let table, _): table
        }
    }

    /// The item's id, if the path has one.
    var id: String? {
        if case .item(_, let id) = self { id } else { nil }
    }
}
