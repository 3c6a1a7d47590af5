// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import HTTPTypes

/// The message in the body of a response: one short line without markup.
struct ResponseText {
    static let htmlMessage = "The server responded with an HTML page."
    private static let maxLength = 500

    private let response: HTTPTransportResponse
    private let secrets: [String]

    /// Makes the text of the response, in which the secrets are hidden.
    init(_ response: HTTPTransportResponse, hiding secrets: [String]) {
        self.response = response
        self.secrets = secrets
    }

    /// Whether the body is HTML or other markup, provided that it is not JSON.
    var isHTML: Bool {
        if beginning?.hasPrefix("<") ?? false { return true }
        guard response.head.headerFields[.contentType]?.lowercased().contains("html") ?? false else {
            return false
        }
        // Web frameworks send a text as HTML unless the app sets another type.
        let isTextOfRefusal = (400...499).contains(response.head.status.code) && beginning?.isEmpty == false
        return !isTextOfRefusal
    }

    /// The first characters of the body, if it is text.
    private var beginning: String? {
        let bytes = response.body.prefix(4 * Self.maxLength)
        // The prefix may end inside a character, so up to three bytes are dropped.
        return (0...3).lazy
            .compactMap { String(validating: bytes.dropLast($0), as: UTF8.self) }.first
            .map { String($0.drop { $0.isWhitespace || $0 == "\u{FEFF}" }) }
    }

    /// Whether the body is the message of Node's web framework Express for a missing route, as text or as a page.
    var namesMissingRoute: Bool {
        guard let beginning else { return false }
        return ["GET", "POST", "PATCH", "PUT", "DELETE"].contains { method in
            let message = "Cannot \(method) /"
            return beginning.hasPrefix(message) || beginning.contains("<pre>" + message)
        }
    }

    /// Returns the server's message from a JSON body or a short plain text.
    func message(json: ItemValue?) -> String? {
        if let json { return json.messageText.flatMap(line) }
        if isHTML { return Self.htmlMessage }
        guard response.body.count <= Self.maxLength else { return nil }
        return beginning.flatMap(line)
    }

    /// Returns one line without control characters, which could control a terminal.
    private func line(_ text: String) -> String? {
        var bytes = Array(text.utf8)
        for secret in secrets where !secret.isEmpty {
            bytes = bytes.replacing(Array(secret.utf8), with: Array("<hidden>".utf8))
        }
        let scalars = String(decoding: bytes, as: UTF8.self).unicodeScalars
        var line = String.UnicodeScalarView()
        for scalar in scalars.prefix(Self.maxLength) {
            let isControl = [.control, .format, .lineSeparator, .paragraphSeparator]
                .contains(scalar.properties.generalCategory)
            line.append(isControl ? " " : scalar)
        }
        if scalars.count > Self.maxLength { line.append("…") }
        let isBlank = line.allSatisfy { $0.properties.isWhitespace }
        return isBlank ? nil : String(line)
    }
}

extension ItemValue {
    /// The value of the first name that servers use for the reason of an error. In a row, the other names are columns.
    fileprivate var messageText: String? {
        switch self {
        case .text(let text): return text
        case .object(let fields):
            let isRow = fields["id"]?.textValue != nil
            let names = isRow ? ["error"] : ["error", "description", "message", "detail", "title"]
            for name in names {
                if let text = fields[name]?.textValue { return text }
            }
            // OData v4 nests the message.
            if case .object(let error)? = fields["error"] { return error["message"]?.textValue }
            // The results of a validation in .NET.
            return fields["errorMessage"]?.textValue
        case .array(let values):
            let texts = values.compactMap(\.messageText)
            return texts.isEmpty ? nil : texts.joined(separator: " ")
        default: return nil
        }
    }
}
