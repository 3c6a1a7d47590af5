// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import HTTPTypes
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One request in progress: collects the response and returns it exactly once.
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
        /// When the last byte was sent or received.
        var lastProgress: DispatchTime
    }

    private static let maxRedirects = 5

    let task: URLSessionDataTask
    /// The body of the request.
    let requestBody: Data?
    private let maxBodyBytes: Int
    private let idleTimeout: DispatchTimeInterval
    private let end: DispatchTime
    private let state: Mutex<State>

    init(task: URLSessionDataTask, requestBody: Data?, maxBodyBytes: Int, deadlines: Deadlines) {
        self.task = task
        self.requestBody = requestBody
        self.maxBodyBytes = maxBodyBytes
        let now = DispatchTime.now()
        idleTimeout = deadlines.idle.timerInterval
        end = now + deadlines.total.timerInterval
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

    func recordProgress() { state.withLock { $0.lastProgress = .now() } }

    func timeOut() { fail(with: URLError(.timedOut)) }

    func complete(error: (any Error)?) {
        if let error { return fail(with: error) }
        complete(with: task.response)
    }

    func complete(with response: URLResponse?) {
        guard let response = response as? HTTPURLResponse, (100...999).contains(response.statusCode) else {
            return fail(with: URLError(.badServerResponse))
        }
        let head = HTTPResponse(
            status: HTTPResponse.Status(code: response.statusCode), headerFields: HTTPFields(response))
        let result = HTTPTransportResponse(head, body: state.withLock { $0.body })
        guard result.isComplete(after: task.originalRequest?.httpMethod) else {
            return fail(with: URLError(.networkConnectionLost))
        }
        finish(.success(result))
    }

    private func fail(with error: any Error) {
        finish(.failure(SyncError(NetworkFailure(error, of: task))))
    }

    /// The request to follow a redirect with, or `nil` when the redirect itself is the response.
    ///
    /// The first request is repeated with every header, which is safe because it goes to the same origin.
    func redirect(to url: URL?) -> URLRequest? {
        guard var request = task.originalRequest, let url, let first = request.url,
            HTTPTransportRequest.mayFollowRedirect(method: request.httpMethod, from: first, to: url),
            state.withLock({ state in
                state.redirects += 1
                state.lastProgress = .now()
                return state.redirects <= Self.maxRedirects
            })
        else { return nil }
        request.url = url
        return request
    }
}

extension HTTPFields {
    /// Foundation has joined repeated fields and lost their order.
    fileprivate init(_ response: HTTPURLResponse) {
        let names = response.allHeaderFields.keys.compactMap { $0 as? String }.sorted()
        self.init()
        for text in names {
            guard let name = HTTPField.Name(text), let value = response.allHeaderFields[text] else {
                continue
            }
            append(HTTPField(name: name, value: "\(value)"))
        }
    }
}

extension HTTPTransportResponse {
    /// Whether the body is as long as announced; a compressed one cannot be measured, but its end is marked.
    package func isComplete(after method: String?) -> Bool {
        let fields = head.headerFields
        guard method != "HEAD", head.status != .noContent, head.status != .notModified,
            fields[.contentEncoding] == nil, let announced = fields[.contentLength].flatMap({ Int($0) })
        else { return true }
        return body.count == announced
    }
}

extension Duration {
    /// The duration in milliseconds, rounded up: its nanoseconds need 64 bits, which `Int` does not have on every watch.
    fileprivate var timerInterval: DispatchTimeInterval {
        .milliseconds(Int((timerNanoseconds + 999_999) / 1_000_000))
    }
}
