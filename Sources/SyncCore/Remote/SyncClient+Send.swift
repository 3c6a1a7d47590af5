// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import HTTPTypes

extension SyncClient {
    /// Sends one request and reads the response of any status. Nothing is retried.
    ///
    /// - Throws: `CancellationError` when the task was cancelled; ``SyncError`` with code
    ///   ``SyncError/Code/networkUnavailable`` when no complete response arrived, so that the server may or may
    ///   not have applied the request; with code ``SyncError/Code/invalidConfiguration`` when no request can be sent, and
    ///   with other codes when this one cannot be sent.
    package func send(_ call: RemoteCall) async throws -> RemoteResponse {
        try Task.checkCancellation()
        let credential = authentication.current
        let request = try request(for: call, token: credential.token)
        let sent = SentCredentials()
        var response: RemoteResponse
        do {
            let received = try await SentCredentials.$current.withValue(sent) {
                try await transport.send(request)
            }
            response = RemoteResponse(
                received, to: call, dialect: dialect, tokenGeneration: credential.generation,
                secrets: sent.secrets(and: [credential.token, applicationKey?.text]))
        } catch let error as HTTPBodyLimitExceeded {
            response = RemoteResponse(error, to: call, tokenGeneration: credential.generation)
        } catch {
            let failure = failure(from: error)
            // Middleware may have sent the request before.
            guard sent.hasReachedServer, let failure = failure as? SyncError else { throw failure }
            guard (failure.cause as? NetworkFailure)?.mayHaveReachedServer == false else { throw failure }
            throw SyncError(NetworkFailure(.connectionLost, to: url, cause: failure.cause))
        }
        response.isOfRepeatedRequest = sent.isRepeated
        return response
    }

    /// Sends one request as ``send(_:)`` does, and again with a new token if the server requires one.
    ///
    /// - Parameters:
    ///   - willRefresh: called with the response that requires a sign-in.
    ///   - willRepeat: called when there is a new token. Nothing is sent if it throws.
    package func sendRefreshing(
        _ call: RemoteCall, willRefresh: (RemoteResponse) -> Void = { _ in },
        willRepeat: () throws -> Void = {}
    ) async throws -> RemoteResponse {
        let response = try await send(call)
        guard response.classification == .unauthenticated else { return response }
        willRefresh(response)
        guard try await refreshAuthentication(after: response) else { return response }
        try willRepeat()
        let repeated = try await send(call)
        if repeated.classification == .done {
            authentication.recordAcceptance(ofGeneration: repeated.tokenGeneration)
        }
        return repeated
    }

    /// The codes of transports that are passed on unchanged.
    private static let transportCodes: Set<SyncError.Code> = [
        .networkUnavailable, .invalidConfiguration, .authenticationRequired,
    ]

    /// Any other error of a transport or middleware, including a cancellation that is not the task's, means that no
    /// response arrived: the server may or may not have applied the request.
    private func failure(from error: any Error) -> any Error {
        switch error {
        case let error as SyncError where error.code == .invalidRequest:
            // The call itself is valid, so the transport would refuse every other call too.
            SyncError(.invalidConfiguration, error.message, cause: error)
        case let error as SyncError where Self.transportCodes.contains(error.code): error
        case _ where Task.isCancelled: CancellationError()
        case let failure as NetworkFailure: SyncError(failure)
        default: SyncError(NetworkFailure(.other, to: url, cause: error))
        }
    }
}
