// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import Foundation
import HTTPTypes
public import Logging

/// A connection to a service: where it is, how it is spoken to, and who is signed in.
///
/// ```swift
/// let client = SyncClient(url: url)
/// ```
///
/// Making a client does no work and cannot fail: a URL that cannot be used is reported by the first call.
public final class SyncClient: Sendable {
    /// Where the service is; tables are below its path.
    public let url: URL
    /// How the service spells the tables protocol.
    public let dialect: WireDialect
    /// The name of this installation of the app, sent with every call.
    public let installationID: String

    let transport: any HTTPTransport
    let authentication: Authentication
    let log: SyncLog?
    let applicationKey: Secret?
    private let userAgent: String

    /// Makes a client.
    ///
    /// - Parameters:
    ///   - url: where the service is: http or https, with a host, possibly with a path, without user name, query
    ///     or fragment.
    ///   - transport: what sends the requests, with the app's middleware around it.
    ///   - dialect: how the service spells the tables protocol.
    ///   - applicationKey: the key that v1 services ask for.
    ///   - installationID: a name for this installation of the app. Apps keep one and pass it at every launch; a
    ///     new one is made up otherwise.
    ///   - userAgent: the `User-Agent` header.
    ///   - logger: receives the events of pushes and pulls (see ``SyncEvent``) and the direct requests of remote
    ///     tables. Messages never hold fields, tokens or URLs; item ids are logged at level `trace` only.
    ///   - refreshAuthentication: asked for a new token when the server answers 401. It is never called twice at a
    ///     time. `nil` means that there is none: the user has to sign in again.
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
        self.userAgent = userAgent
        log = logger.map(SyncLog.init)
        authentication = Authentication(refresh: refreshAuthentication)
    }

    /// The token of the signed-in user, sent as `X-ZUMO-AUTH`; `nil` when nobody is. It may change at any time and
    /// holds for calls that begin afterwards.
    public var authenticationToken: String? {
        get { authentication.current.token }
        set { authentication.set(newValue) }
    }

    /// Gets a new token after an answer of 401, unless the token has changed since that call was made.
    ///
    /// - Returns: whether there is another token to try.
    /// - Throws: ``SyncError`` with code ``SyncError/Code/authenticationRequired`` when the app's refresh failed,
    ///   `CancellationError` when the task was cancelled.
    package func refreshAuthentication(after answer: RemoteResponse) async throws -> Bool {
        try await authentication.refresh(after: answer.tokenGeneration)
    }

    /// The request for a call, with every header.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidConfiguration`` when no request can be sent; with
    ///   other codes when this call cannot be.
    func request(for call: RemoteCall, token: String?) throws(SyncError) -> HTTPTransportRequest {
        try validateConfiguration()
        var request = try call.request(below: url, dialect: dialect)
        for (name, value) in headers {
            request.head.headerFields[name] = value
        }
        if let token {
            try HTTPField.validate(token, for: .zumoAuth, code: .invalidConfiguration)
            request.head.headerFields[.zumoAuth] = token
        }
        return request
    }

    /// The headers that every request has, apart from the token.
    private var headers: [(name: HTTPField.Name, value: String)] {
        let key = applicationKey.map { [(HTTPField.Name.zumoApplication, $0.text)] } ?? []
        return [(.userAgent, userAgent), (.zumoInstallationID, installationID)] + key
    }

    /// Validates what all requests have in common, before anything is sent. The transport adds its own rules, such as
    /// that about plain HTTP, when it is given a request.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidConfiguration``.
    package func validateConfiguration() throws(SyncError) {
        let problem: String? =
            if !["http", "https"].contains(url.scheme?.lowercased()) {
                "it must begin with http:// or https://"
            } else if url.user != nil || url.password != nil {
                "it must not have a user name or password"
            } else if url.query != nil || url.fragment != nil {
                "it must not have a query or fragment"
            } else if Origin(url) == nil {
                "it has no host"
            } else {
                nil
            }
        if let problem {
            throw SyncError(.invalidConfiguration, "The client's URL cannot be used: \(problem).")
        }
        for (name, value) in headers {
            try HTTPField.validate(value, for: name, code: .invalidConfiguration)
        }
    }
}
