// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import Foundation
import HTTPTypes
public import Logging

/// A client of a tables service: its URL, its dialect and the signed-in user.
///
/// ```swift
/// let client = SyncClient(url: url)
/// ```
///
/// Making a client sends no request and cannot fail: the first request reports an invalid URL.
public final class SyncClient: Sendable {
    /// The base URL of the service.
    public let url: URL
    /// The service's dialect of the tables protocol.
    public let dialect: WireDialect
    /// The identifier of this installation of the app, sent with every request.
    public let installationID: String

    let transport: any HTTPTransport
    package let authentication: Authentication
    let log: SyncLog?
    let applicationKey: Secret?
    /// A request to the base URL, with the headers of all requests except the credentials; or why no request can be sent.
    private let base: Result<HTTPRequest, SyncError>

    /// Makes a client.
    ///
    /// - Parameters:
    ///   - url: the base URL of the service: http or https, with a host, optionally a path, without user name, query and
    ///     fragment.
    ///   - transport: sends the requests, with the app's middleware.
    ///   - dialect: the service's dialect of the tables protocol.
    ///   - applicationKey: the key that v1 services require.
    ///   - installationID: an identifier for this installation of the app. Apps store it and pass it at every launch; the
    ///     default is a new one.
    ///   - userAgent: the `User-Agent` header; by default `swift-sync-context`.
    ///   - logger: receives the events of pushes and pulls (see ``SyncEvent``) and the direct requests of remote
    ///     tables. Messages never hold fields, tokens or URLs; item ids are logged at level `trace` only.
    ///   - refreshAuthentication: returns a new token when the server requires the user to sign in. Calls do not overlap,
    ///     and continue when the push, pull or request that needs the token is cancelled.
    ///     If it returns `nil`, the user has to sign in again. If it throws, another attempt may succeed: the error of the request
    ///     has the code ``SyncError/Code/authenticationRequired``, and ``SyncError/mayRetry`` is true. A
    ///     ``SyncError`` with this code means the same as `nil`.
    public init(
        url: URL, transport: any HTTPTransport = URLSessionTransport(), dialect: WireDialect = .v2,
        applicationKey: String? = nil, installationID: String = UUID().uuidString,
        userAgent: String = "swift-sync-context", logger: Logger? = nil,
        refreshAuthentication: (@Sendable () async throws -> String?)? = nil
    ) {
        self.url = url
        self.transport = transport
        self.dialect = dialect
        self.applicationKey = applicationKey.map(Secret.init)
        self.installationID = installationID
        log = logger.map(SyncLog.init)
        authentication = Authentication(refresh: refreshAuthentication)
        base = Result { () throws(SyncError) in
            if let applicationKey {
                try HTTPField.validate(applicationKey, for: .zumoApplication, code: .invalidConfiguration)
            }
            return try Self.base(url, [(.userAgent, userAgent), (.zumoInstallationID, installationID)])
        }
    }

    /// The token of the signed-in user, sent as `X-ZUMO-AUTH`; `nil` if no user is signed in. Requests that begin after a
    /// change use the new token.
    public var authenticationToken: String? {
        get { authentication.current.token }
        set { authentication.set(newValue) }
    }

    /// Gets a new token after a response that requires one, unless the token has changed since the request.
    ///
    /// - Returns: whether another token is available.
    /// - Throws: ``SyncError`` with code ``SyncError/Code/authenticationRequired`` when the app's refresh failed,
    ///   `CancellationError` when the task was cancelled.
    package func refreshAuthentication(after response: RemoteResponse) async throws -> Bool {
        try await authentication.refresh(after: response.tokenGeneration)
    }

    /// Returns the HTTP request for a call, with all headers.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidConfiguration`` when no request can be sent; with
    ///   other codes when this call cannot be sent.
    func request(for call: RemoteCall, token: String?) throws(SyncError) -> HTTPTransportRequest {
        var request = try call.request(below: base.get(), dialect: dialect)
        request.head.headerFields[.zumoApplication] = applicationKey?.text
        if let token {
            try HTTPField.validate(token, for: .zumoAuth, code: .invalidConfiguration)
            request.head.headerFields[.zumoAuth] = token
        }
        return request
    }

    /// Returns a request to the base URL. The transport validates more, such as the use of plain HTTP, when it sends a
    /// request.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidConfiguration``.
    private static func base(
        _ url: URL, _ headers: [(name: HTTPField.Name, value: String)]
    ) throws(SyncError) -> HTTPRequest {
        let problem: String? =
            if !["http", "https"].contains(url.scheme?.lowercased()) {
                "it must begin with http:// or https://"
            } else if url.user != nil || url.password != nil {
                "it must not have a user name or password"
            } else if url.query != nil || url.fragment != nil {
                "it must not have a query or fragment"
            } else if url.host(percentEncoded: true)?.isEmpty != false {
                "it has no host"
            } else if Origin(url) == nil {
                "its port must be at most 65535"
            } else {
                nil
            }
        if let problem {
            throw SyncError(.invalidConfiguration, "The client's URL is not valid: \(problem).")
        }
        var request = HTTPRequest(url: url)
        for (name, value) in headers {
            try HTTPField.validate(value, for: name, code: .invalidConfiguration)
            request.headerFields[name] = value
        }
        return request
    }
}
