// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import HTTPTypes

/// What a person can be told about the body of an answer: a short sentence, never a page's markup.
struct ResponseText {
    static let htmlMessage = "The server answered with an HTML page."
    private static let maxLength = 500

    private let response: HTTPTransportResponse
    private let secrets: [String]
    /// The beginning of the body, when it is text.
    private let beginning: String?

    /// Reads the body's text; where the server repeats one of the secrets, it is hidden.
    init(_ response: HTTPTransportResponse, hiding secrets: [String]) {
        self.response = response
        self.secrets = secrets
        let bytes = response.body.prefix(4 * Self.maxLength)
        // A character may be cut in half at the end of the prefix, so up to three bytes are left off.
        beginning = (0...3).lazy
            .compactMap { String(validating: bytes.dropLast($0), as: UTF8.self) }.first
            .map { String($0.drop { $0.isWhitespace }) }
    }

    /// Whether the body is an HTML page or other markup. Ask only when it is not JSON.
    var isHTML: Bool {
        if response.head.headerFields[.contentType]?.lowercased().contains("html") ?? false { return true }
        return beginning?.hasPrefix("<") ?? false
    }

    /// Whether the body is the text with which Node's web framework says that it has no such route: alone, or in a
    /// page around it.
    var namesMissingRoute: Bool {
        guard let beginning else { return false }
        return ["GET", "POST", "PATCH", "PUT", "DELETE"].contains { method in
            let text = "Cannot \(method) /"
            return beginning.hasPrefix(text) || beginning.contains("<pre>" + text)
        }
    }

    /// What the server says, taken from the JSON body or a short plain text.
    func message(json: ItemValue?) -> String? {
        if let json { return json.messageText.flatMap(line) }
        if isHTML { return Self.htmlMessage }
        guard response.body.count <= Self.maxLength else { return nil }
        return beginning.flatMap(line)
    }

    /// One line without control characters, which could act on a terminal.
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
    /// The text under the first name that servers use for an error's reason.
    fileprivate var messageText: String? {
        switch self {
        case .text(let text): return text
        case .object(let fields):
            for name in ["error", "description", "message", "detail", "title"] {
                if let text = fields[name]?.textValue { return text }
            }
            // OData v4 nests the message.
            if case .object(let error)? = fields["error"] { return error["message"]?.textValue }
            return nil
        default: return nil
        }
    }
}
