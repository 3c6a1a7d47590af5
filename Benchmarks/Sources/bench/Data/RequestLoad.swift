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
    /// bodies in bytes.
    ///
    /// - Throws: ``WrongResult`` for a status other than 200.
    func send(to port: Int, connections: Int) async throws -> Int {
        try await withThrowingTaskGroup(of: Int.self) { group in
            for first in 0..<connections {
                group.addTask {
                    try await onThread { () throws(WrongResult) in
                        try exchange(from: first, step: connections, port: port)
                    }
                }
            }
            return try await group.reduce(0, +)
        }
    }

    private func exchange(from first: Int, step: Int, port: Int) throws(WrongResult) -> Int {
        let socket = http_connect(Int32(port))
        guard socket >= 0 else { throw WrongResult("No connection to port \(port).") }
        defer { close(socket) }
        var bytes = 0
        for index in stride(from: first, to: requests.count, by: step) {
            let size = http_exchange(socket, requests[index], requests[index].count)
            guard size >= 0 else { throw WrongResult("A request failed: \(size).") }
            bytes += size
        }
        return bytes
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
