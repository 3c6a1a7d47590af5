// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension NetworkFailure {
    /// The failure of a task of URLSession. Foundation's own error names URLs, so only its code is kept as the cause.
    init(_ error: any Error, of task: URLSessionTask) {
        let (url, code) = (task.originalRequest?.url, (error as? URLError)?.code ?? .unknown)
        let failure = Self(Reason(code, text: error.localizedDescription), to: url, cause: URLError(code))
        // When a reused connection ends, URLSession sends the request again over a new one, which may fail otherwise. It counts the
        // bytes of bodies only.
        let wasSent = task.countOfBytesSent > 0 && failure.isOfConnection
        self = wasSent ? Self(.connectionLost, to: url, cause: failure.cause) : failure
        mayHaveBeenSentBefore = (task.originalRequest?.httpBody ?? Data()).isEmpty
    }
}

extension NetworkFailure.Reason {
    fileprivate init(_ code: URLError.Code, text: String) {
        self =
            switch code {
            case .cannotFindHost, .dnsLookupFailed: .unknownHost
            case .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff, .callIsActive:
                .unreachable
            case .cannotConnectToHost: .connectionRefused
            case .timedOut: .timedOut
            case .networkConnectionLost, .badServerResponse, .cannotParseResponse, .zeroByteResource:
                .connectionLost
            case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
                .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
                .clientCertificateRequired, .appTransportSecurityRequiresSecureConnection:
                .secureConnectionFailed
            // Foundation on Linux reports this for a response that is not HTTP, and has one code for the rest, whose
            // text is libcurl's.
            case .unsupportedURL: .connectionLost
            case .unknown where ["SSL", "TLS", "certificate"].contains(where: text.contains):
                .secureConnectionFailed
            case .unknown where text.hasPrefix("Failed to connect"): .unreachable
            case .unknown
            where ["transfer closed", "Send failure", "Recv failure"].contains(where: text.hasPrefix):
                .connectionLost
            default: .other
            }
    }
}
