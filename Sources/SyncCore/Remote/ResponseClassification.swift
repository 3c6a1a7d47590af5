// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The meaning of a response, by its status and the form of its body: the only classification, used by remote
/// tables, pushes and pulls.
///
/// A response that does not come from the tables service has no information about the row. It is recognized by its status
/// (gateways, rate limits, redirects, captive portals) or by its body: HTML instead of JSON, or no body where the service
/// always sends one.
enum ResponseClassification: Sendable, Hashable {
    /// The server applied the request, and the body is the expected one.
    case done
    /// The server already has a row that the write would create.
    case rowExists
    /// The server's row has another version than the request names.
    case versionMismatch
    /// The server has no such row.
    case rowMissing
    /// The server does not have the table.
    case tableMissing
    /// The tables service refused the request and did not apply it.
    case refused
    /// The tables service may or may not have applied the request.
    case unknown
    /// The server requires the user to sign in.
    case unauthenticated
    /// The response does not come from the tables service, or the service is not available.
    case unavailable

    /// The form of the body.
    enum BodyForm: Sendable, Hashable, CaseIterable {
        /// No bytes.
        case empty
        /// JSON that is a row.
        case row
        /// JSON that is a list of rows.
        case rows
        /// Any other JSON, such as an error.
        case json
        /// A web page or other markup.
        case html
        /// Anything else, such as plain text or truncated JSON.
        case unreadable
    }

    /// Classifies a response.
    ///
    /// - Parameters:
    ///   - namesMissingRoute: whether the body is a web framework's message for a missing route: servers with a route for
    ///     each table respond in this way for unknown tables.
    ///   - asksToWait: whether the response has `Retry-After`. Gateways answer with 403 when a quota is used up.
    ///   - failsWithoutBody: whether the service answers with an empty 500 when it fails at a write.
    init(
        status: Int, body: BodyForm, to request: SyncEvent.RequestKind, namesMissingRoute: Bool = false,
        asksToWait: Bool = false, failsWithoutBody: Bool = false
    ) {
        switch status {
        case 401: self = .unauthenticated
        case 404 where namesMissingRoute: self = .tableMissing
        case _ where body == .html: self = .unavailable
        case _ where Self.isSuccess(status): self = Self.success(body, of: request)
        case 403: self = asksToWait || [.empty, .unreadable].contains(body) ? .unavailable : .refused
        case 404, 410: self = Self.missing(status, body, of: request)
        case 407, 408, 425, 429: self = .unavailable
        case 409: self = request.isWrite ? .rowExists : .refused
        case 412: self = request.isWrite ? .versionMismatch : .refused
        case 400...499: self = body == .unreadable ? .unknown : .refused
        case _ where Self.isGatewayError(status): self = .unavailable
        case 500 where failsWithoutBody && request.isWrite && !asksToWait: self = .unknown
        case _ where Self.isServerError(status): self = asksToWait || body == .empty ? .unavailable : .unknown
        default: self = .unavailable
        }
    }

    /// Whether the server reports that it applied the request, whatever its body is.
    static func isSuccess(_ status: Int) -> Bool { (200...299).contains(status) }

    /// Whether the server reports that it failed.
    static func isServerError(_ status: Int) -> Bool { (500...599).contains(status) }

    /// Whether a failure with this status may be about its request only, whatever its body is, because the tables service or a
    /// proxy has refused it.
    static func mayBeOfRequest(_ status: Int) -> Bool {
        isServerError(status)
            ? !isGatewayError(status)
            : (400...499).contains(status) && status != 408 && !isOfService(status)
    }

    /// Whether a failure with this status is about the user, the time, the network or the whole service. Any other may be about
    /// its request only: a firewall answers it with a page or redirects it, or a gateway has waited too long for it.
    static func isOfService(_ status: Int) -> Bool { [401, 407, 425, 429, 511].contains(status) }

    /// Whether the request was not processed: 407 (a proxy requires a sign-in), 425 (too early) or 429 (rate limit).
    static func isUnprocessed(_ status: Int) -> Bool { [407, 425, 429].contains(status) }

    /// Whether the tables service has ended its work on a write that has this status: it has refused the content, or failed.
    /// Behind a gateway that has given up, it may still be working.
    ///
    /// A conflict of an update or a delete has shown the row already. That of an insert may be about another value that must be
    /// unique.
    static func endsWrite(_ status: Int, _ kind: TableOperation.Kind) -> Bool {
        switch status {
        case 401: true
        case 404, 410: false
        case 409, 412: kind == .insert
        default: mayBeOfRequest(status)
        }
    }

    /// Whether a gateway reports that the service is not available, or that the user has to sign in to the network.
    private static func isGatewayError(_ status: Int) -> Bool { isGatewayFailure(status) || status == 511 }

    /// Whether a gateway reports that it got no answer.
    static func isGatewayFailure(_ status: Int) -> Bool {
        [502, 503, 504].contains(status) || (520...530).contains(status)
    }

    private static func success(_ body: BodyForm, of request: SyncEvent.RequestKind) -> Self {
        switch (request, body) {
        case (.delete, .unreadable): .unknown
        case (.delete, _), (.query, .rows): .done
        case (.query, _): .unknown
        case (_, .row): .done
        case (.insert, .empty), (.update, .empty), (.undelete, .empty): .unavailable
        default: .unknown
        }
    }

    /// Distinguishes a missing row from a missing table by the request: inserts and queries name no row.
    private static func missing(_ status: Int, _ body: BodyForm, of request: SyncEvent.RequestKind) -> Self {
        // The plain text of a proxy must not complete a delete.
        if body == .unreadable { return .unknown }
        return switch request {
        case .insert, .query: status == 404 ? .tableMissing : .refused
        case .update, .delete, .undelete, .read: .rowMissing
        }
    }
}

extension ResponseClassification {
    /// Whether the server has not applied the request, whatever the state of the row is.
    var isDefiniteRefusal: Bool { [.refused, .tableMissing, .unauthenticated].contains(self) }

    /// Whether the server has not applied the request in the present state of the row.
    var isConflict: Bool { [.rowExists, .versionMismatch, .rowMissing].contains(self) }

    /// Whether the same request may succeed after a short wait, so that a push or pull sends it again.
    func isTransient(status: Int) -> Bool {
        switch self {
        case .unknown: !(400...499).contains(status)
        case .unavailable:
            [408, 425, 429, 500, 502, 503, 504].contains(status) || (520...524).contains(status)
        default: false
        }
    }
}

extension SyncEvent.RequestKind {
    /// Whether the request changes a row.
    var isWrite: Bool { self != .read && self != .query }
}
