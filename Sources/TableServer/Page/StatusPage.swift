// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

/// The pages for a browser on this machine: the tables, the latest rows of one, and the latest requests. They reload by
/// themselves and contain no script.
struct StatusPage: Sendable {
    let settings: TableServer.Configuration
    let storage: any RowStorage
    let log: RequestLog

    /// The number of rows and of requests on a page.
    private static let limit = 50
    /// The length of a time with milliseconds.
    private static let timeLength = "yyyy-MM-ddTHH:mm:ss.mmm".utf8.count

    /// Returns the page of a request; `nil` for any other path, and for a client that is not a browser on this machine.
    func response(to request: RecordedRequest) async throws -> ServerResponse? {
        // A page of another site can let its own name resolve to this machine, and would otherwise read the rows.
        guard settings.showsPage, request.method == "GET",
            request.path == "/" || request.path.hasPrefix("/page/"), request.isForThisMachine,
            !Self.proxyHeaders.contains(where: { request.header($0) != nil })
        else { return nil }
        if request.path == "/" { return html(try await tables(), title: "Tables") }
        let name = String(request.path.dropFirst("/page/".count))
        guard let table = settings.table(named: name) else { return nil }
        return html(try await rows(of: table), title: table.name)
    }

    /// Headers that proxies add: their clients are on other machines.
    private static let proxyHeaders = [
        "Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP",
    ]

    private func tables() async throws -> String {
        var lines: [[String]] = []
        for table in settings.tables {
            let (rows, deleted) = try await storage.read(scope(of: table)) { rows in
                let all = try rows.count(.all)
                let live = try rows.count(RowQuery(filter: nil, ordering: [], includesDeleted: false))
                return (live, all - live)
            }
            let link = "<a href=\"/page/\(table.name.htmlEscaped)\">\(table.name.htmlEscaped)</a>"
            lines.append([link, "\(rows)", "\(deleted)", table.isPerUser ? "per user" : ""])
        }
        return Self.table(["Table", "Rows", "Tombstones", ""], lines) + requests()
    }

    /// The rows of all users.
    private func scope(of table: TableServer.Table) -> RowScope {
        RowScope(table: table, owner: table.isPerUser ? nil : "")
    }

    private func requests() -> String {
        let lines = log.latest.reversed().map { request in
            [
                "\(request.id)", request.method.htmlEscaped, (request.path + request.shownQuery).htmlEscaped,
                request.status.map(String.init) ?? "…",
            ]
        }
        return "<h2>Latest requests</h2>" + Self.table(["", "Method", "Path", "Status"], lines)
    }

    private func rows(of table: TableServer.Table) async throws -> String {
        let query = RowQuery(
            filter: nil, ordering: [ODataOrdering(column: .updatedAt, isDescending: true)],
            includesDeleted: true)
        let rows = try await storage.read(scope(of: table)) { rows in
            try rows.rows(query, offset: 0, limit: Self.limit)
        }
        let lines = rows.map { row in
            [
                row.id.htmlEscaped, String(row.updatedAt.prefix(Self.timeLength)).htmlEscaped,
                TableRow.version(ofRevision: row.revision).htmlEscaped, row.deleted ? "deleted" : "",
                "<code>\(row.fields.htmlEscaped)</code>",
            ]
        }
        return "<p><a href=\"/\">All tables</a></p>"
            + Self.table(["Id", "updatedAt", "Version", "", "Fields"], lines)
    }

    /// Returns a table of cells that are HTML.
    private static func table(_ header: [String], _ lines: [[String]]) -> String {
        let head = header.map { "<th>\($0)</th>" }.joined()
        let body = lines.map { "<tr>" + $0.map { "<td>\($0)</td>" }.joined() + "</tr>" }
        return "<table><tr>\(head)</tr>\n\(body.joined(separator: "\n"))</table>"
    }

    private func html(_ body: String, title: String) -> ServerResponse {
        let page = """
            <!DOCTYPE html>
            <html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="2">
            <title>\(title.htmlEscaped)</title><style>
            body { font: 15px system-ui, sans-serif; margin: 2em auto; max-width: 70em; padding: 0 1em }
            table { border-collapse: collapse; width: 100% } td, th { border-bottom: 1px solid #ddd; padding: .3em .6em;
            text-align: left; vertical-align: top } code { font-size: 13px; overflow-wrap: anywhere }
            </style></head><body><h1>\(title.htmlEscaped)</h1>
            \(body)
            </body></html>

            """
        return ServerResponse(
            status: 200,
            headers: [
                ("Content-Type", "text/html; charset=utf-8"),
                ("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'"),
            ], body: Data(page.utf8))
    }
}

extension RecordedRequest {
    /// The query with its `?`, if there is one.
    fileprivate var shownQuery: String { query.isEmpty ? "" : "?" + (query.removingPercentEncoding ?? query) }
}
