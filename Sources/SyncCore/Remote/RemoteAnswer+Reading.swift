// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

extension RemoteAnswer {
    /// Reads an answer to that call. Secrets that the server repeats do not get into the message.
    init(
        _ response: HTTPTransportResponse, to call: RemoteCall, dialect: WireDialect, tokenGeneration: Int,
        secrets: [String]
    ) {
        let text = AnswerText(response, hiding: secrets)
        status = response.status
        version = EntityTag.version(from: response.headers["ETag"])
        retryAfter = response.headers["Retry-After"]
        date = response.headers["Date"]
        self.tokenGeneration = tokenGeneration
        let isSuccess = (200..<300).contains(response.status)
        if isSuccess, case .query = call.action, !response.body.isEmpty {
            (body, isLastPage) = Self.list(in: response.body, dialect: dialect, isHTML: text.isHTML)
            (message, isTableMissing) = (nil, false)
            return
        }
        let json = Self.json(in: response.body)
        switch json {
        case nil: body = .empty
        case .failure(let error): body = .unreadable(error, isHTML: text.isHTML)
        case .success(.object(let row)) where isSuccess || row["id"]?.textValue != nil: body = .row(row)
        case .success:
            body = isSuccess ? .unreadable("The answer is not an object, as a row must be.") : .empty
        }
        message = isSuccess ? nil : text.message(json: try? json?.get())
        isTableMissing = response.status == 404 && call.isAboutTable(notFoundText: text, json: json)
    }

    private static func json(in body: Data) -> Result<ItemValue, JSONError>? {
        if body.isEmpty { return nil }
        do throws(JSONError) { return .success(try ItemValue(json: body)) } catch { return .failure(error) }
    }

    /// Reads the answer to a query: a list of rows, or an object that has one, and whether it is the last page. Only
    /// whether there is a next page counts: its address is never followed.
    private static func list(in body: Data, dialect: WireDialect, isHTML: Bool) -> (Body, isLast: Bool) {
        var rows: [WireObject]?
        var count: Int?
        var isLast = false
        do throws(JSONError) {
            try JSONParser.read(body, style: .wire) { parser throws(JSONError) in
                parser.skipWhitespace()
                if parser.isAt(UInt8(ascii: "{")) {
                    isLast = dialect.nextPageName != nil
                    try parser.parseMembers { name, parser throws(JSONError) in
                        switch name {
                        case dialect.listName: rows = try parser.parseObjects()
                        case dialect.nextPageName: isLast = try parser.parseValue().isNull
                        case "count": count = Int(totalCount: try parser.parseValue())
                        default: try parser.skip()
                        }
                    }
                } else {
                    rows = try parser.parseObjects()
                }
                try parser.parseEnd()
            }
        } catch {
            return (.unreadable(error, isHTML: isHTML), false)
        }
        guard let rows else { return (.unreadable("The answer is not a list of rows."), false) }
        return (.rows(rows, count: count), isLast)
    }

    /// The answer whose body was longer than the transport accepts.
    init(_ error: HTTPBodyLimitExceeded, tokenGeneration: Int) {
        status = error.status
        version = nil
        retryAfter = nil
        date = nil
        body = .unreadable("The answer is longer than \(error.limit) bytes.")
        message = nil
        isTableMissing = false
        exceededLimit = error.limit
        self.tokenGeneration = tokenGeneration
    }
}

extension RemoteAnswer.Body {
    fileprivate static func unreadable(_ error: JSONError, isHTML: Bool) -> Self {
        .unreadable(isHTML ? AnswerText.htmlMessage : "\(error)")
    }
}

extension Int {
    /// A count as servers write it: a whole number, in some back ends as a double.
    fileprivate init?(totalCount value: ItemValue) {
        let count: Int? =
            switch value {
            case .int(let int): Int(exactly: int)
            case .double(let double): Int(exactly: double)
            default: nil
            }
        guard let count, count >= 0 else { return nil }
        self = count
    }
}

extension RemoteCall {
    /// Calls on the table itself can only miss the table. For calls on a row, a server that knows the table answers
    /// with JSON or nothing; without such a route it answers with a page or a text of its web framework.
    fileprivate func isAboutTable(notFoundText text: AnswerText, json: Result<ItemValue, JSONError>?) -> Bool
    {
        switch action {
        case .insert, .query: return true
        case .update, .delete, .undelete, .read:
            if case .success = json { return false }
            return text.isHTML || text.isRouteMissing
        }
    }
}
