// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import NIOCore
import NIOPosix
import NIOSSL
import SyncCore

extension NetworkFailure.Reason {
    /// Maps an error of AsyncHTTPClient.
    init(_ error: any Error) {
        self =
            switch error {
            case let error as HTTPClientError: Self(error)
            case let error as NIOConnectionError: Self(error)
            case NIOSSLError.uncleanShutdown: .connectionLost
            case NIOSSLError.handshakeFailed(.sslError(let errors)) where errors.contains(.eofDuringHandshake):
                .connectionLost
            case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError: .secureConnectionFailed
            // The network can go away before the connection to an address, or after the request was sent over it.
            case let error as IOError where Self(error) == .unreachable: .connectionLost
            case let error as IOError: Self(error)
            // Errors of the channel and of the response parser.
            default: .connectionLost
            }
    }

    private init(_ error: HTTPClientError) {
        self =
            switch error {
            case .readTimeout, .writeTimeout, .connectTimeout, .tlsHandshakeTimeout, .deadlineExceeded,
                .getConnectionFromPoolTimeout:
                .timedOut
            default: .connectionLost
            }
    }

    private init(_ error: NIOConnectionError) {
        guard let failure = error.connectionErrors.first?.error else {
            self = .unknownHost
            return
        }
        switch failure {
        case let failure as IOError: self.init(failure)
        case is ChannelError: self = .timedOut
        default: self = .unreachable
        }
    }

    private init(_ error: IOError) {
        self =
            switch error.errnoCode {
            case ECONNREFUSED: .connectionRefused
            case ENETDOWN, ENETUNREACH, EHOSTDOWN, EHOSTUNREACH, EADDRNOTAVAIL, EACCES: .unreachable
            case ETIMEDOUT: .timedOut
            default: .connectionLost
            }
    }
}
