// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

/// What goes back to the client.
struct Answer: Sendable {
    var status: Int
    var headers: [(name: String, value: String)]
    var body: Data

    /// A row, with its version as `ETag`.
    static func row(_ row: TableRow, status: Int = 200, settings: TableServer.Configuration) -> Answer {
        Answer(
            status: status, headers: [contentType, ("ETag", EntityTag.header(version: row.version))],
            body: row.json(settings: settings))
    }

    /// A value that is no row. Its weak `ETag` says nothing about versions, as on the server that this one models.
    static func value(_ value: ItemValue, status: Int = 200) -> Answer {
        json(value.json, status: status)
    }

    /// JSON text that is no row.
    static func json(_ body: Data, status: Int = 200) -> Answer {
        Answer(status: status, headers: [contentType, ("ETag", EntityTag.weak(of: body))], body: body)
    }

    /// The page that says there is nothing under that path.
    static func noSuchPath(_ method: String, _ path: String) -> Answer {
        let html = """
            <!DOCTYPE html>
            <html><head><title>Error</title></head><body><pre>Cannot \(method) \(path.htmlEscaped)</pre></body></html>

            """
        return Answer(
            status: 404, headers: [("Content-Type", "text/html; charset=utf-8")], body: Data(html.utf8))
    }

    private static let contentType = (name: "Content-Type", value: "application/json; charset=utf-8")
}

/// A request that is refused with a status and a sentence.
struct Refusal: Error {
    let status: Int
    let message: String

    static func badRequest(_ message: String) -> Refusal { Refusal(status: 400, message: message) }
    static let noSuchItem = Refusal(status: 404, message: "The item does not exist")

    var answer: Answer { .value(["error": .text(message)], status: status) }
}

extension TableRow {
    /// The row as clients see it.
    func json(settings: TableServer.Configuration, columns: Set<String>? = nil) -> Data {
        var object = fields
        object["id"] = .text(id)
        object["createdAt"] = .date(createdAt.showing(fractionDigits: settings.fractionDigits))
        object["updatedAt"] = .date(updatedAt.showing(fractionDigits: settings.fractionDigits))
        object["version"] = .text(version)
        object["deleted"] = .bool(deleted)
        if let columns { object = object.filter { columns.contains($0.key) } }
        return ItemValue.object(object).json
    }
}

extension String {
    fileprivate var htmlEscaped: String {
        replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}
