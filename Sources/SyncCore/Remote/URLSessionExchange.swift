// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One request under way: collects the answer and hands it over exactly once.
final class URLSessionExchange: Sendable {
    /// How long an exchange may take.
    struct Deadlines {
        let idle: Duration
        let total: Duration
    }

    private struct State {
        var continuation: CheckedContinuation<HTTPTransportResponse, any Error>?
        var outcome: Result<HTTPTransportResponse, any Error>?
        var body = Data()
        var redirects = 0
        /// When the last byte went or came.
        var lastProgress: DispatchTime
    }

    private static let maxRedirects = 5

    let task: URLSessionDataTask
    private let maxBodyBytes: Int
    private let idleTimeout: DispatchTimeInterval
    private let end: DispatchTime
    private let state: Mutex<State>

    init(task: URLSessionDataTask, maxBodyBytes: Int, deadlines: Deadlines) {
        self.task = task
        self.maxBodyBytes = maxBodyBytes
        let now = DispatchTime.now()
        idleTimeout = .nanoseconds(Int(deadlines.idle.timerNanoseconds))
        end = now + .nanoseconds(Int(deadlines.total.timerNanoseconds))
        state = Mutex(State(lastProgress: now))
    }

    /// When the exchange has to have ended, unless it makes progress.
    var deadline: DispatchTime { min(state.withLock { $0.lastProgress } + idleTimeout, end) }

    /// Sends the request, unless the exchange has already ended.
    func start(_ continuation: CheckedContinuation<HTTPTransportResponse, any Error>) {
        let outcome = state.withLock { state in
            if state.outcome == nil {
                state.continuation = continuation
            }
            return state.outcome
        }
        if let outcome { return continuation.resume(with: outcome) }
        task.resume()
    }

    /// Ends the exchange with that outcome, unless it has ended already.
    func finish(_ outcome: Result<HTTPTransportResponse, any Error>) {
        let (isFirst, continuation) = state.withLock { state in
            defer {
                state.continuation = nil
                state.outcome = state.outcome ?? outcome
            }
            return (state.outcome == nil, state.continuation)
        }
        guard isFirst else { return }
        if case .failure = outcome { task.cancel() }
        continuation?.resume(with: outcome)
    }

    func receive(_ data: Data) {
        let isTooLong = state.withLock { state in
            guard state.outcome == nil else { return false }
            guard data.count <= maxBodyBytes - state.body.count else { return true }
            state.body.append(data)
            state.lastProgress = .now()
            return false
        }
        guard isTooLong else { return }
        let status = (task.response as? HTTPURLResponse)?.statusCode ?? 0
        finish(.failure(HTTPBodyLimitExceeded(status: status, limit: maxBodyBytes)))
    }

    func noteProgress() { state.withLock { $0.lastProgress = .now() } }

    func timeOut() { finish(.failure(SyncError.exchangeFailed(URLError(.timedOut)))) }

    func complete(error: (any Error)?) {
        if let error { return finish(.failure(SyncError.exchangeFailed(error))) }
        complete(with: task.response)
    }

    func complete(with response: URLResponse?) {
        guard let response = response as? HTTPURLResponse else {
            return finish(.failure(SyncError.exchangeFailed(URLError(.badServerResponse))))
        }
        let body = state.withLock { $0.body }
        let answer = HTTPTransportResponse(
            status: response.statusCode, headers: HTTPTransportHeaders(response), body: body)
        guard answer.isComplete(after: task.originalRequest?.httpMethod) else {
            return finish(.failure(SyncError.exchangeFailed(URLError(.networkConnectionLost))))
        }
        finish(.success(answer))
    }

    /// The request to follow a redirect with, or `nil` when the redirect itself is the answer.
    ///
    /// The first request is repeated with every header, which is safe because it goes to the same origin.
    func redirect(to url: URL?) -> URLRequest? {
        guard var request = task.originalRequest, let url, let method = request.httpMethod,
            let first = request.url,
            HTTPTransportRequest(method: method, url: first).mayFollowRedirect(to: url),
            state.withLock({ state in
                state.redirects += 1
                return state.redirects <= Self.maxRedirects
            })
        else { return nil }
        request.url = url
        return request
    }
}

extension SyncError {
    /// The failure of a task. Foundation's own error names URLs, so only its code is kept as the cause.
    fileprivate static func exchangeFailed(_ error: any Error) -> SyncError {
        let code = (error as? URLError)?.code ?? .unknown
        return exchangeFailed(hasTimedOut: code == .timedOut, cause: URLError(code))
    }
}

extension HTTPTransportHeaders {
    /// Foundation has joined repeated headers and lost their order.
    fileprivate init(_ response: HTTPURLResponse) {
        let fields = response.allHeaderFields.compactMap { name, value in
            (name as? String).map { Field(name: $0, value: "\(value)") }
        }
        self.init(fields.sorted { $0.name < $1.name })
    }
}

extension HTTPTransportResponse {
    /// Whether the body is as long as announced; a compressed one cannot be measured, but its end is marked.
    package func isComplete(after method: String?) -> Bool {
        guard method != "HEAD", status != 204, status != 304, headers["Content-Encoding"] == nil,
            let announced = headers["Content-Length"].flatMap({ Int($0) })
        else { return true }
        return body.count == announced
    }
}
