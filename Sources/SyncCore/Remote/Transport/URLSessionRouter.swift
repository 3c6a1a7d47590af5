// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The delegate of a session: passes each callback to the exchange of its task, and ends exchanges after their deadlines.
///
/// One timer serves all exchanges. It is set for the earliest deadline, is not reset by progress, and recomputes the
/// earliest deadline when it fires.
final class URLSessionRouter: NSObject, URLSessionDataDelegate {
    private struct State {
        var exchanges: [Int: URLSessionExchange] = [:]
        var timer: (any DispatchSourceTimer)?
    }

    private static let timers = DispatchQueue(label: "swift-sync-context.timeouts")

    private let state = Mutex(State())

    deinit { state.withLock { $0.timer?.cancel() } }

    func register(_ exchange: URLSessionExchange) {
        state.withLock { state in
            state.exchanges[exchange.task.taskIdentifier] = exchange
            // All exchanges have the same timeout, so an existing timer already fires early enough.
            if state.timer == nil { state.timer = makeTimer(firingAt: exchange.deadline) }
        }
    }

    func remove(_ exchange: URLSessionExchange) {
        state.withLock { $0.exchanges[exchange.task.taskIdentifier] = nil }
    }

    /// Ends all exchanges because the transport was closed.
    func closeAll() {
        let all = state.withLock { Array($0.exchanges.values) }
        for exchange in all {
            let url = exchange.task.originalRequest?.url
            exchange.finish(.failure(SyncError(NetworkFailure(.transportClosed, to: url, cause: nil))))
        }
    }

    func exchange(of task: URLSessionTask) -> URLSessionExchange? {
        state.withLock { $0.exchanges[task.taskIdentifier] }
    }

    private func makeTimer(firingAt deadline: DispatchTime) -> any DispatchSourceTimer {
        let timer = DispatchSource.makeTimerSource(queue: Self.timers)
        timer.setEventHandler { [weak self] in self?.endOverdueExchanges() }
        timer.schedule(deadline: deadline)
        timer.resume()
        return timer
    }

    private func endOverdueExchanges() {
        let overdue = state.withLock { state in
            let now = DispatchTime.now()
            let exchanges = state.exchanges.values.map { (exchange: $0, deadline: $0.deadline) }
            if let next = exchanges.map(\.deadline).filter({ $0 > now }).min() {
                state.timer?.schedule(deadline: next)
            } else {
                state.timer?.cancel()
                state.timer = nil
            }
            return exchanges.filter { $0.deadline <= now }.map(\.exchange)
        }
        for exchange in overdue { exchange.timeOut() }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        exchange(of: dataTask)?.receive(data)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        exchange(of: task)?.recordProgress()
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        exchange(of: task)?.complete(error: error)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
    ) {
        completionHandler(exchange(of: task)?.redirect(to: request.url))
    }
}
