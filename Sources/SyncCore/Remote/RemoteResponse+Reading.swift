// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes

extension RemoteResponse {
    /// Reads a response to that call. Secrets that the server repeats are removed from the message.
    init(
        _ response: HTTPTransportResponse, to call: RemoteCall, dialect: WireDialect, tokenGeneration: Int,
        secrets: [String]
    ) {
        let text = ResponseText(response, hiding: secrets)
        status = response.head.status.code
        version = EntityTag.version(from: response.head.headerFields[.eTag])
        date = response.head.headerFields[.date]
        retryAfter = RetryAfter.text(response.head.headerFields[.retryAfter], since: date)
        self.tokenGeneration = tokenGeneration
        let isSuccess = ResponseClassification.isSuccess(status)
        var json: ItemValue?
        if response.body.isEmpty {
            body = .empty
        } else if isSuccess, case .changes = call.action {
            body = Self.change(in: response)
        } else if isSuccess, case .query = call.action {
            (body, nextPage) = Self.list(in: response.body, dialect: dialect, text)
        } else {
            do throws(JSONError) {
                let value = try ItemValue(json: response.body)
                body = Self.row(value, isSuccess: isSuccess)
                json = value
            } catch {
                if let row = Self.row(withMalformedValuesIn: response.body, dialect: dialect) {
                    (body, lacksMalformedValues) = (.row(row), true)
                    json = .object(row)
                } else {
                    body = .unreadable(error, in: text)
                }
            }
        }
        let isHTML = (!isSuccess || body.isUnreadable) && text.isHTML
        message = isSuccess && !isHTML ? nil : text.message(json: json)
        classification = ResponseClassification(
            status: status, body: body.form(isJSON: json != nil, isHTML: isHTML),
            to: call.kind, namesMissingRoute: status == 404 && text.namesMissingRoute,
            asksToWait: retryAfter != nil, failsWithoutBody: dialect.isTyped)
    }

    private static func row(_ json: ItemValue, isSuccess: Bool) -> Body {
        if case .object(let row) = json, isSuccess || row["id"]?.textValue != nil { return .row(row) }
        return isSuccess ? .unreadable("The response is not an object.") : .empty
    }

    /// Reads a row without its malformed values, as lists are read; `nil` if that is impossible, or the id or a system
    /// property is malformed. An update that replaces the whole row would lose such a value, so it is not left out then.
    private static func row(
        withMalformedValuesIn body: Data, dialect: WireDialect
    ) -> [String: ItemValue]? {
        guard !dialect.updatesWholeRow else { return nil }
        let object = try? JSONParser.read(body, style: .wire) { parser throws(JSONError) in
            parser.skipWhitespace()
            let object = try parser.parseObject()
            try parser.parseEnd()
            return object
        }
        guard let object, object.fields["id"]?.textValue != nil else { return nil }
        var row = object.fields
        for index in object.unreadable.keys {
            let name = object.names.texts[index]
            guard name != "id", !dialect.systemNames.all.contains(name) else { return nil }
            row[name] = nil
        }
        return row
    }

    /// Reads the events of a change feed: the last id, and the names of the tables.
    private static func change(in response: HTTPTransportResponse) -> Body {
        guard response.head.headerFields[.contentType]?.hasPrefix("text/event-stream") == true else {
            return .unreadable("The response is not a change feed.")
        }
        let lines = String(decoding: response.body, as: UTF8.self).split(whereSeparator: \.isNewline)
        func values(_ field: String) -> [String] {
            lines.filter { $0.hasPrefix(field) }.map { String($0.dropFirst(field.count)) }
        }
        return .change(values("id: ").last.map { ServerChange(tables: Set(values("data: ")), mark: $0) })
    }

    /// Reads the response to a query: a list of rows, or an object that contains one.
    private static func list(
        in body: Data, dialect: WireDialect, _ text: ResponseText
    ) -> (Body, NextPage) {
        var rows: [WireObject]?
        var count: Int?
        var next = NextPage.unknown
        do throws(JSONError) {
            try JSONParser.read(body, style: .wire) { parser throws(JSONError) in
                parser.skipWhitespace()
                if parser.isAt(UInt8(ascii: "{")) {
                    if dialect.nextPageName != nil { next = .end }
                    try parser.parseMembers { name, parser throws(JSONError) in
                        switch name {
                        case dialect.listName: rows = try parser.parseObjects()
                        case dialect.nextPageName:
                            let link = try parser.parseValue()
                            next = link.isNull ? .end : link.textValue.map(NextPage.init(link:)) ?? .unknown
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
            return (.unreadable(error, in: text), .unknown)
        }
        guard let rows else { return (.unreadable("The response is not a list of rows."), .unknown) }
        return (.rows(rows, count: count), next)
    }

    /// Makes the response whose body exceeds the transport's limit.
    init(_ error: HTTPBodyLimitExceeded, to call: RemoteCall, tokenGeneration: Int) {
        status = error.status
        version = nil
        retryAfter = nil
        date = nil
        body = .unreadable("The response is longer than \(error.limit) bytes.")
        message = nil
        classification = ResponseClassification(status: status, body: .unreadable, to: call.kind)
        exceededLimit = error.limit
        self.tokenGeneration = tokenGeneration
    }
}

extension RemoteResponse.Body {
    fileprivate static func unreadable(_ error: JSONError, in text: ResponseText) -> Self {
        .unreadable(text.isHTML ? ResponseText.htmlMessage : "\(error)")
    }

    fileprivate var isUnreadable: Bool {
        if case .unreadable = self { true } else { false }
    }
}

extension Int {
    /// Reads a total count: an integer, or a double with an integral value as some servers write it.
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

extension RemoteResponse.Body {
    fileprivate func form(isJSON: Bool, isHTML: Bool) -> ResponseClassification.BodyForm {
        switch self {
        case .row: .row
        case .rows, .change: .rows
        case _ where isJSON: .json
        case .empty: .empty
        case .unreadable: isHTML ? .html : .unreadable
        }
    }
}
