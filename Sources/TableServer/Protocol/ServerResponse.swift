// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

/// The response to a request.
struct ServerResponse: Sendable {
    var status: Int
    var headers: [(name: String, value: String)]
    var body: Data
    /// What is sent instead of the body, piece by piece.
    var feed: ChangeFeed?

    /// Returns a response with a row, and its version as `ETag`.
    static func row(_ row: StoredRow, status: Int = 200, format: RowFormat) throws -> ServerResponse {
        ServerResponse(
            status: status, headers: [contentType, ("ETag", EntityTag.header(version: row.version))],
            body: try format.json(row))
    }

    /// Returns a response without a body.
    static func empty(status: Int, headers: [(name: String, value: String)] = []) -> ServerResponse {
        ServerResponse(status: status, headers: headers, body: Data())
    }

    /// Returns a response with a value that is not a row. Its weak `ETag` is not a version, as on the modelled server.
    static func value(_ value: ItemValue, status: Int = 200) -> ServerResponse {
        json(value.json, status: status)
    }

    /// Returns a response with JSON that is not a row, and a weak `ETag`.
    static func json(_ body: Data, status: Int = 200) -> ServerResponse {
        ServerResponse(
            status: status, headers: [contentType, ("ETag", EntityTag.weak(of: body))], body: body)
    }

    /// Returns the HTML page for a path that does not exist.
    static func pathNotFound(_ method: String, _ path: String) -> ServerResponse {
        let html = """
            <!DOCTYPE html>
            <html><head><title>Error</title></head><body><pre>Cannot \(method) \(path.htmlEscaped)</pre></body></html>

            """
        return ServerResponse(
            status: 404, headers: [("Content-Type", "text/html; charset=utf-8")], body: Data(html.utf8))
    }

    private static let contentType = (name: "Content-Type", value: "application/json; charset=utf-8")
}

/// An error that the server reports to the client, with a status and a message.
package struct RequestError: Error {
    package let status: Int
    package let message: String
    /// The error of the database, for the log; the client does not see it.
    package let cause: (any Error)?

    package init(status: Int, message: String, cause: (any Error)? = nil) {
        self.status = status
        self.message = message
        self.cause = cause
    }

    static func badRequest(_ message: String) -> RequestError { RequestError(status: 400, message: message) }
    static func unauthorized(_ message: String) -> RequestError {
        RequestError(status: 401, message: message)
    }
    package static let patternTooLong = RequestError(
        status: 400,
        message:
            "'$filter' searches for a text of more than \(SubstringSearch.maxPatternLength) characters.")
    package static let filterTooDeep = RequestError(
        status: 400, message: "'$filter' is nested too deeply for the database.")
    static let itemNotFound = RequestError(status: 404, message: "The item does not exist")
    static let itemDeleted = RequestError(status: 410, message: "The item is deleted.")

    /// Returns the error of a write that has waited too long for its turn, for locks or for a connection.
    package static func rowsLocked(_ cause: any Error) -> RequestError {
        RequestError(
            status: 503, message: "Others have locked the rows for too long. Send the request again.",
            cause: cause)
    }

    /// Returns the error of a request whose statement was ended by a limit of time.
    package static func tookTooLong(_ cause: any Error) -> RequestError {
        RequestError(
            status: 503, message: "The request has taken too long. Send it again later.", cause: cause)
    }

    package static func databaseUnavailable(_ cause: any Error) -> RequestError {
        RequestError(
            status: 503, message: "The database is not available. Send the request again later.",
            cause: cause)
    }

    /// Returns the error of a write that may be stored or not.
    package static func outcomeUnknown(_ message: String, _ cause: any Error) -> RequestError {
        RequestError(status: 504, message: message, cause: cause)
    }

    var response: ServerResponse {
        var response = ServerResponse.value(["error": .text(message)], status: status)
        switch status {
        case 401: response.headers.append(("WWW-Authenticate", "Bearer"))
        // The client has sent too many requests, or the database is busy or cannot be reached.
        case 429, 503, 504: response.headers.append(("Retry-After", "1"))
        default: break
        }
        return response
    }
}

extension String {
    /// The text for HTML, also in the value of an attribute. A `Character` can contain a `<` and marks before or after it.
    var htmlEscaped: String {
        var escaped = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;".unicodeScalars
            case "<": escaped += "&lt;".unicodeScalars
            case ">": escaped += "&gt;".unicodeScalars
            case "\"": escaped += "&quot;".unicodeScalars
            default: escaped.append(scalar)
            }
        }
        return String(escaped)
    }
}
