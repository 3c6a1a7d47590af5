// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import Foundation
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
    let logger: Logger?
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
    ///   - logger: where calls are logged, by method, table and status, never with items or credentials.
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
        self.logger = logger
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
    package func refreshAuthentication(after answer: RemoteAnswer) async throws -> Bool {
        try await authentication.refresh(after: answer.tokenGeneration)
    }

    /// The request for a call, with every header.
    func request(for call: RemoteCall, token: String?) throws(SyncError) -> HTTPTransportRequest {
        guard Origin(url) != nil, url.query == nil, url.fragment == nil else {
            throw SyncError(
                .invalidRequest,
                "The client's URL must be http or https and have a host, and no user name, query or fragment."
            )
        }
        var base = url.absoluteString
        while base.hasSuffix("/") { base.removeLast() }
        var request = try call.request(below: base, dialect: dialect)
        request.headers["User-Agent"] = userAgent
        request.headers["X-ZUMO-INSTALLATION-ID"] = installationID
        request.headers["X-ZUMO-APPLICATION"] = applicationKey?.text
        request.headers["X-ZUMO-AUTH"] = token
        try request.headers.validate()
        return request
    }
}
