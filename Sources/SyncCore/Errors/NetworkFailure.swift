// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

package import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Why no response arrived: the cause of a ``SyncError`` with code ``SyncError/Code/networkUnavailable``.
///
/// Both transports of this package report the same reasons. A transport of an app may throw this error itself. With
/// ``Reason/unknownHost``, ``Reason/unreachable`` or ``Reason/connectionRefused`` it states that nothing of the request was sent:
/// a change then counts as never sent, which a transport must not state when the server may have received it.
public struct NetworkFailure: Error, Sendable {
    /// What failed.
    public struct Reason: Sendable, Hashable {
        private enum Value {
            case unknownHost, unreachable, connectionRefused, secureConnectionFailed, timedOut, connectionLost
            case transportClosed, other
        }

        private let value: Value

        private init(_ value: Value) { self.value = value }

        /// The host name was not found: it does not exist, or there is no network to look it up. Nothing was sent.
        public static let unknownHost = Self(.unknownHost)
        /// There is no route to the server: the device is not connected to a network that leads to it. Nothing was sent.
        public static let unreachable = Self(.unreachable)
        /// The host refused the connection: nothing listens on the port, and nothing was sent. On Apple systems URLSession
        /// does not tell this from ``unreachable``.
        public static let connectionRefused = Self(.connectionRefused)
        /// TLS failed: the certificate is not trusted or not for this host, or the port does not use TLS.
        public static let secureConnectionFailed = Self(.secureConnectionFailed)
        /// The connection or the response took longer than the transport's timeouts.
        public static let timedOut = Self(.timedOut)
        /// The connection ended before a whole HTTP response arrived.
        public static let connectionLost = Self(.connectionLost)
        /// The app closed the transport.
        public static let transportClosed = Self(.transportClosed)
        /// Anything else.
        public static let other = Self(.other)
    }

    /// What failed.
    public let reason: Reason
    /// The server's host.
    public let host: String
    /// The server's port.
    public let port: Int
    /// The error of the HTTP library underneath, when there is one.
    public let cause: (any Error)?
    /// Whether the HTTP library may have sent the request over an earlier connection.
    var mayHaveBeenSentBefore = false

    /// Makes an error.
    public init(_ reason: Reason, host: String, port: Int, cause: (any Error)? = nil) {
        self.reason = reason
        self.host = host
        self.port = port
        self.cause = cause
    }
}

extension NetworkFailure {
    /// Makes an error of a request to that URL.
    package init(_ reason: Reason, to url: URL?, cause: (any Error)?) {
        let origin = url.flatMap(Origin.init)
        self.init(reason, host: origin?.host ?? "", port: origin?.port ?? 0, cause: cause)
    }

    /// Whether the server may have received the request. TLS can fail, and the transport be closed, after it was sent.
    var mayHaveReachedServer: Bool { mayHaveBeenSentBefore || !isOfConnection }

    /// Whether the reason is that there was no connection.
    var isOfConnection: Bool { [.unknownHost, .unreachable, .connectionRefused].contains(reason) }

    /// Whether the same request may succeed later without the app changing anything.
    public var mayRetry: Bool { reason != .secureConnectionFailed && reason != .transportClosed }
}

extension NetworkFailure.Reason: CustomStringConvertible {
    /// The name of the reason.
    public var description: String { "\(value)" }
}

extension NetworkFailure: CustomStringConvertible {
    /// The reason and the server; also the error underneath, if the reason says too little to find the problem.
    public var description: String {
        let failure = "The request to \(host):\(port) failed: \(reason)."
        guard let cause, [.other, .secureConnectionFailed].contains(reason) else { return failure }
        // The description of a URLError is the dump of an NSError, of which only the code is informative.
        guard let error = cause as? URLError else { return failure + " Cause: \(cause)" }
        return failure + " URLSession reported error \(error.code.rawValue)."
    }

    /// A sentence for the reader that names host and port, and whether trying again helps.
    var message: String {
        let server = "\(host):\(port)"
        return switch reason {
        case .unknownHost:
            "The host '\(host)' (port \(port)) was not found. Check the connection and try again later."
        case .unreachable: "There is no connection to \(server). Check the connection and try again later."
        case .connectionRefused: "The server \(server) refused the connection. Try again later."
        case .secureConnectionFailed:
            "There is no secure connection to \(server): its certificate is not trusted or not for this host, or the "
                + "port does not use TLS. Trying again does not help."
        case .timedOut: "The server \(server) did not respond in time. Try again later."
        case .connectionLost:
            "The connection to \(server) ended before the whole response arrived. Try again."
        case .transportClosed: "The transport was closed."
        default: "The request to \(server) failed without a response. Try again later."
        }
    }
}

extension SyncError {
    /// The error of an exchange after which the server may or may not have executed the request.
    package init(_ failure: NetworkFailure) {
        self.init(.networkUnavailable, failure.message, cause: failure, mayRetry: failure.mayRetry)
    }

    /// Whether the server may have received the request. It has refused it, or it could not be sent, after any other error than
    /// that of a missing response.
    var mayHaveReachedServer: Bool {
        code == .networkUnavailable && (cause as? NetworkFailure)?.mayHaveReachedServer ?? true
    }

    /// Whether the server could not be reached, so that the app works with local data and syncs later: also for a push
    /// or pull that ended for this reason.
    ///
    /// `false` when trying again does not help: TLS failed, or the transport was closed.
    public var isOffline: Bool {
        switch (cause as? PushFailure)?.underlying ?? cause {
        case let failure as NetworkFailure: failure.mayRetry
        case let error as SyncError: error.isOffline
        default: code == .networkUnavailable || code == .pushAbortedNetwork
        }
    }
}
