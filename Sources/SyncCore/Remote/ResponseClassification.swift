// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// What an answer means, by its status and the form of its body: the one table for remote tables, pushes and pulls.
///
/// An answer that does not come from the tables service says nothing about the row. It is recognised by its status
/// (gateways, rate limits, redirects, portals) or by its body: HTML where JSON is expected, or no body where the
/// service always sends one.
enum ResponseClassification: Sendable, Hashable {
    /// The request was carried out, and the body is what was asked for.
    case done
    /// The server already has a row that the write would create.
    case rowExists
    /// The server's row has another version than the request names.
    case versionMismatch
    /// The server has no such row.
    case rowMissing
    /// The server has no such table.
    case tableMissing
    /// The tables service refuses the request, and has not applied it.
    case refused
    /// The tables service may or may not have applied the request.
    case unknown
    /// The server requires the user to sign in.
    case unauthenticated
    /// The answer does not come from the tables service, or the service is not able to answer.
    case unavailable

    /// The form of an answer's body.
    enum BodyForm: Sendable, Hashable, CaseIterable {
        /// No bytes.
        case empty
        /// JSON that is a row.
        case row
        /// JSON that is a list of rows.
        case rows
        /// Any other JSON, such as an error.
        case json
        /// A page for people, or other markup.
        case html
        /// Anything else: plain text, or JSON that is cut short.
        case unreadable
    }

    /// What was asked, as far as the meaning of an answer depends on it.
    enum Request: Sendable, Hashable, CaseIterable {
        case insert, update, delete, undelete, read, query

        var isWrite: Bool { self != .read && self != .query }
    }

    /// Classifies an answer.
    ///
    /// - Parameter namesMissingRoute: whether the body is the text of a web framework that has no such route:
    ///   servers that register a route for each table answer so for unknown tables.
    init(status: Int, body: BodyForm, to request: Request, namesMissingRoute: Bool = false) {
        switch status {
        case 401: self = .unauthenticated
        case 404 where namesMissingRoute: self = .tableMissing
        case _ where body == .html: self = .unavailable
        case 200...299: self = Self.success(body, of: request)
        case 403: self = body == .empty || body == .unreadable ? .unavailable : .refused
        case 404, 410: self = Self.missing(status, body, of: request)
        case 407, 408, 425, 429: self = .unavailable
        case 409: self = request.isWrite ? .rowExists : .refused
        case 412: self = request.isWrite ? .versionMismatch : .refused
        case 400...499: self = body == .unreadable ? .unknown : .refused
        case 502, 503, 504, 511, 520...530: self = .unavailable
        case 500...599: self = body == .empty ? .unavailable : .unknown
        default: self = .unavailable
        }
    }

    private static func success(_ body: BodyForm, of request: Request) -> Self {
        switch (request, body) {
        case (.delete, .unreadable): .unknown
        case (.delete, _), (.query, .rows): .done
        case (.query, _): .unknown
        case (_, .row): .done
        case (.insert, .empty), (.update, .empty), (.undelete, .empty): .unavailable
        default: .unknown
        }
    }

    /// A row that is missing is told from a table that is missing by the request: inserts and queries name no row.
    private static func missing(_ status: Int, _ body: BodyForm, of request: Request) -> Self {
        // A proxy's plain text must not complete a delete.
        if body == .unreadable { return .unknown }
        return switch request {
        case .insert, .query: status == 404 ? .tableMissing : .refused
        case .update, .delete, .undelete, .read: .rowMissing
        }
    }
}

extension ResponseClassification {
    /// Whether the same request may be answered otherwise after a short wait, so that it is worth repeating within
    /// one push or pull.
    func isTransient(status: Int) -> Bool {
        switch self {
        case .unknown: !(400...499).contains(status)
        case .unavailable:
            [408, 425, 429, 500, 502, 503, 504].contains(status) || (520...524).contains(status)
        default: false
        }
    }
}
