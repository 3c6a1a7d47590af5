// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import CHTTPConnection
import Foundation

/// Requests to a server on this machine, over connections that stay open.
struct RequestLoad: Sendable {
    private let requests: [[UInt8]]

    init(_ requests: [(method: String, target: String, body: String)]) {
        self.requests = requests.map { request in
            Array(
                """
                \(request.method) \(request.target) HTTP/1.1\r
                Host: 127.0.0.1\r
                ZUMO-API-VERSION: 2.0.0\r
                Content-Type: application/json\r
                Content-Length: \(request.body.utf8.count)\r
                \r
                \(request.body)
                """.utf8)
        }
    }

    /// Sends the requests over a number of connections, each the next request after a response, and returns the size of all
    /// bodies in bytes. The time and the latencies are those of the trial.
    ///
    /// - Parameter ports: those of the servers, which have the connections in turn.
    /// - Throws: ``WrongResult`` for a status other than 200.
    func send(to ports: [Int], connections: Int, in trial: Trial) async throws -> Int {
        let results = try await trial.measure {
            try await withThrowingTaskGroup(of: (bytes: Int, times: [Double]).self) { group in
                for first in 0..<connections {
                    group.addTask {
                        try await onThread { () throws(WrongResult) in
                            try exchange(from: first, step: connections, port: ports[first % ports.count])
                        }
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
        }
        trial.record(Latencies(results.flatMap(\.times)))
        return results.reduce(0) { $0 + $1.bytes }
    }

    private func exchange(
        from first: Int, step: Int, port: Int
    ) throws(WrongResult) -> (bytes: Int, times: [Double]) {
        let socket = http_connect(Int32(port))
        guard socket >= 0 else { throw WrongResult("No connection to port \(port).") }
        defer { close(socket) }
        var (bytes, times): (Int, [Double]) = (0, [])
        for index in stride(from: first, to: requests.count, by: step) {
            let start = ContinuousClock.now
            let size = http_exchange(socket, requests[index], requests[index].count)
            guard size >= 0 else { throw WrongResult("A request failed: \(size).") }
            times.append(start.duration(to: .now) / .seconds(1))
            bytes += size
        }
        return (bytes, times)
    }
}

/// Runs a body that blocks its thread.
private func onThread<T: Sendable>(
    _ body: @escaping @Sendable () throws(WrongResult) -> T
) async throws -> T {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result(catching: body)) }
    }
}
