// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import HTTPTypes

extension SyncClient {
    /// Makes one call and reads the answer, whatever its status. Nothing is retried.
    ///
    /// - Throws: `CancellationError` when the task was cancelled; ``SyncError`` with code
    ///   ``SyncError/Code/networkUnavailable`` when no whole answer came, so that the server may or may not have
    ///   acted; with code ``SyncError/Code/invalidConfiguration`` when no call can be sent, and with other codes when
    ///   this one cannot: nothing has been sent then.
    package func send(_ call: RemoteCall) async throws -> RemoteResponse {
        try Task.checkCancellation()
        let credential = authentication.current
        let request = try request(for: call, token: credential.token)
        let answer: RemoteResponse
        do {
            let response = try await transport.send(request)
            answer = RemoteResponse(
                response, to: call, dialect: dialect, tokenGeneration: credential.generation,
                secrets: [credential.token, applicationKey?.text].compactMap(\.self))
        } catch let error as HTTPBodyLimitExceeded {
            answer = RemoteResponse(error, to: call, tokenGeneration: credential.generation)
        } catch {
            throw failure(from: error)
        }
        return answer
    }

    /// Makes one call as ``send(_:)`` does, and once more with a new token when the answer is 401 and there is one.
    package func sendRefreshing(_ call: RemoteCall) async throws -> RemoteResponse {
        let answer = try await send(call)
        guard answer.classification == .unauthenticated, try await refreshAuthentication(after: answer) else {
            return answer
        }
        return try await send(call)
    }

    /// What transports throw when they know more than that no response came.
    private static let codesOfTransports: Set<SyncError.Code> = [
        .networkUnavailable, .invalidConfiguration, .authenticationRequired,
    ]

    /// Any other error of a transport or middleware, a cancellation of its own too, says that no response came: the
    /// server may or may not have acted.
    private func failure(from error: any Error) -> any Error {
        switch error {
        case let error as SyncError where error.code == .invalidRequest:
            // The call itself is valid, so every other call would be refused as well.
            SyncError(.invalidConfiguration, error.message, cause: error)
        case let error as SyncError where Self.codesOfTransports.contains(error.code): error
        case _ where Task.isCancelled: CancellationError()
        case let failure as NetworkFailure: SyncError(failure)
        default: SyncError(NetworkFailure(.other, to: url, cause: error))
        }
    }
}
