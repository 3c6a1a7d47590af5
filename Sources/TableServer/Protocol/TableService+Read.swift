// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

extension TableService {
    func read(_ rows: borrowing TableRows, id: String) throws -> ServerResponse {
        guard let row = rows[id], !row.deleted else { throw RequestError.itemNotFound }
        return .row(row, settings: settings)
    }

    func list(_ rows: borrowing TableRows, _ request: RecordedRequest) throws -> ServerResponse {
        let parameters = try ListParameters(request.parameters, maxTop: settings.maxTop)
        let query = try ListQuery(parameters, columns: rows.columns)
        let size = min(parameters.top ?? settings.pageSize, settings.pageSize)
        let page = query.page(of: rows, skip: parameters.skip, size: size)

        let selectedColumns = parameters.select.map { names in
            Set(names.map { ODataColumn($0, in: rows.columns).name })
        }
        var body = Data("[".utf8)
        for (position, row) in page.rows.enumerated() {
            if position > 0 { body.append(UInt8(ascii: ",")) }
            body.append(row.json(settings: settings, columns: selectedColumns))
        }
        body.append(UInt8(ascii: "]"))
        if let count = page.count {
            body = Data("{\"results\":".utf8) + body + Data(",\"count\":\(count)}".utf8)
        }
        var response = ServerResponse.json(body)
        if let top = parameters.top, top > size, page.rows.count == size {
            response.headers.append(
                ("Link", "\(request.nextPageURL(skip: parameters.skip + size, top: top - size)); rel=next"))
        }
        return response
    }
}

extension RecordedRequest {
    /// Returns the URL of the next page, on the host that the client used.
    fileprivate func nextPageURL(skip: Int, top: Int) -> String {
        let kept = query.split(separator: "&").filter { pair in
            let name = QueryParameter.parse(String(pair)).first?.name
            return name != "$skip" && name != "$top"
        }
        let nextQuery = (kept.map(String.init) + ["$skip=\(skip)", "$top=\(top)"]).joined(separator: "&")
        return "http://\(header("Host") ?? "localhost")\(path)?\(nextQuery)"
    }
}
