// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

extension TableService {
    func read(
        _ rows: any RowReader, id: String, _ request: RecordedRequest, _ dialect: TableServer.Dialect
    ) throws -> ServerResponse {
        guard let row = try rows.storedRow(id) else { throw RequestError.itemNotFound }
        if row.deleted, dialect != .v3 { throw RequestError.itemNotFound }
        if row.deleted, !dialect.includesDeleted(request.parameters) { throw RequestError.itemDeleted }
        let (precondition, format) = (
            Precondition(request, dialect), RowFormat(dialect, request, settings: settings)
        )
        // The server modelled for the older dialects ignores `If-Match` here.
        guard dialect != .v3 || precondition.isMatched(row.version) else {
            return try .row(row, status: 412, format: format)
        }
        guard precondition.isModified(row.version) else {
            return .empty(status: 304, headers: [("ETag", EntityTag.header(version: row.version))])
        }
        return try .row(row, format: format)
    }

    func list(
        _ rows: any RowReader, _ scope: RowScope, _ request: RecordedRequest, _ parameters: ListParameters,
        _ dialect: TableServer.Dialect
    ) throws -> ServerResponse {
        var columns = ColumnNames()
        let ordering = scope.defaultOrdering(dialect)
        var query = try RowQuery(parameters, dialect, columns: columns, defaultOrdering: ordering)
        // The pages of a pull use no fields, whose spelling would take another query.
        if query.usesFields {
            columns = try rows.columns()
            query = try RowQuery(parameters, dialect, columns: columns, defaultOrdering: ordering)
        }
        let size = min(parameters.top ?? settings.pageSize, settings.pageSize, ListParameters.maxCount)
        // One row more tells whether there is a next page.
        var page = try rows.rows(query, offset: parameters.skip, limit: size + 1)
        let hasMore = page.count > size && size > 0
        if page.count > size { page.removeLast() }
        let count = parameters.includesCount ? try rows.count(query) : nil

        let format = RowFormat(dialect, request, settings: settings)
        let selectedColumns = parameters.select.map { names in
            // The rows have the spelling of each field.
            Set(names.map { format.name(of: ODataColumn($0, in: columns, dialect)).asciiLowercased })
        }
        var list = ByteWriter(capacity: 512 * (1 + page.count))
        list.append(UInt8(ascii: "["))
        for (position, row) in page.enumerated() {
            if position > 0 { list.append(UInt8(ascii: ",")) }
            try format.append(row, to: &list, columns: selectedColumns)
        }
        list.append(UInt8(ascii: "]"))
        let next = NextPage(skip: parameters.skip + size, top: parameters.top.map { $0 - size })
        if dialect.listsItems {
            let link = hasMore && next.top != 0 ? request.query(of: next) : nil
            return .json(Self.items(list.data, count: count, nextLink: link))
        }
        let rows = list.data
        var response = ServerResponse.json(
            count.map { Data("{\"results\":".utf8) + rows + Data(",\"count\":\($0)}".utf8) } ?? rows)
        if let top = next.top, top > 0, page.count == size {
            let page = "\(request.scheme)://\(request.header("Host") ?? "localhost")\(request.path)"
            response.headers.append(("Link", "\(page)?\(request.query(of: next)); rel=next"))
        }
        return response
    }

    private static func items(_ list: Data, count: Int?, nextLink: String?) -> Data {
        var body = Data("{\"items\":".utf8) + list
        if let count { body += Data(",\"count\":\(count)".utf8) }
        if let nextLink { body += Data(",\"nextLink\":".utf8) + ItemValue.text(nextLink).json }
        return body + Data("}".utf8)
    }
}

extension RecordedRequest {
    /// The scheme of the client's request; of several proxies, the first has received it.
    fileprivate var scheme: String {
        let schemes = header("X-Forwarded-Proto")?.split(separator: ",") ?? []
        let first = schemes.first.map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
        return first == "https" ? "https" : "http"
    }
}

/// The window of the page after a page.
private struct NextPage {
    let skip: Int
    /// The number of rows that the client still wants; `nil` for all.
    let top: Int?
}

extension RecordedRequest {
    /// Returns the query of the next page.
    fileprivate func query(of next: NextPage) -> String {
        let kept = query.split(separator: "&").filter { pair in
            let name = QueryParameter.parse(String(pair)).first?.name
            return name != "$skip" && name != "$top"
        }
        let window = ["$skip=\(next.skip)"] + (next.top.map { ["$top=\($0)"] } ?? [])
        return (kept.map(String.init) + window).joined(separator: "&")
    }
}
