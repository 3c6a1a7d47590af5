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
        self.tokenGeneration = tokenGeneration
        let json = Self.json(in: response.body)
        let isSuccess = (200..<300).contains(response.status)
        switch json {
        case nil: body = .empty
        case .failure(let error): body = .unreadable(text.isHTML ? AnswerText.htmlMessage : "\(error)")
        case .success(let value) where isSuccess: body = Body(value, to: call, dialect: dialect)
        case .success(.object(let row)) where row["id"]?.textValue != nil: body = .row(row)
        case .success: body = .empty
        }
        message = isSuccess ? nil : text.message(json: try? json?.get())
        isTableMissing = response.status == 404 && call.isAboutTable(notFoundText: text, json: json)
    }

    private static func json(in body: Data) -> Result<ItemValue, JSONError>? {
        if body.isEmpty { return nil }
        do throws(JSONError) { return .success(try ItemValue(json: body)) } catch { return .failure(error) }
    }

    /// The answer whose body was longer than the transport accepts.
    init(_ error: HTTPBodyLimitExceeded, tokenGeneration: Int) {
        status = error.status
        version = nil
        retryAfter = nil
        body = .unreadable("The answer is longer than \(error.limit) bytes.")
        message = nil
        isTableMissing = false
        self.tokenGeneration = tokenGeneration
    }
}

extension RemoteAnswer.Body {
    /// Reads the JSON of a 2xx by what the call asked for.
    fileprivate init(_ value: ItemValue, to call: RemoteCall, dialect: WireDialect) {
        guard case .query = call.action else {
            guard case .object(let row) = value else {
                self = .unreadable("The answer is not an object, as a row must be.")
                return
            }
            self = .row(row)
            return
        }
        var list = value
        var count: Int?
        if case .object(let wrapper) = value {
            list = wrapper[dialect.listName] ?? .null
            count = wrapper["count"].flatMap(Int.init(totalCount:))
        }
        guard case .array(let values) = list else {
            self = .unreadable("The answer is not a list of rows.")
            return
        }
        var rows: [[String: ItemValue]] = []
        rows.reserveCapacity(values.count)
        for value in values {
            guard case .object(let row) = value else {
                self = .unreadable("The answer's list contains something other than rows.")
                return
            }
            rows.append(row)
        }
        self = .rows(rows, count: count)
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
