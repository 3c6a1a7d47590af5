// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPTransport
import Foundation
import HTTPTypes
import SyncCore
import Synchronization
import TableServer

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension TableServer {
    /// A server on this machine that answers with long pages.
    static func startForBenchmark() async throws -> TableServer {
        var configuration = Configuration(tables: [.init(TodoRow.table)])
        configuration.pageSize = 1000
        return try await start(configuration: configuration)
    }

    /// Puts so many rows into the table, a thousand of which share each `updatedAt`.
    func fill(count: Int) async throws {
        for start in stride(from: 0, to: count, by: 1000) {
            let rows = (start..<min(start + 1000, count)).map { TodoRow($0) }
            try await put(rows.map { (id: $0.id, fields: $0.fields) }, in: TodoRow.table)
        }
    }
}

/// What sends a context's requests.
enum HTTPClientKind: CaseIterable {
    case urlSession, asyncHTTP

    /// What is added to the name of a contender.
    var suffix: String { self == .urlSession ? "" : " with AsyncHTTP" }

    func makeTransport() -> any HTTPTransport {
        self == .urlSession ? URLSessionTransport() : AsyncHTTPTransport()
    }
}

/// Keeps the requests that pass.
final class RecordingTransport: HTTPTransport {
    private let base: any HTTPTransport
    private let recorded = Mutex<[HTTPTransportRequest]>([])

    init(_ base: any HTTPTransport = URLSessionTransport()) { self.base = base }

    var requests: [HTTPTransportRequest] { recorded.withLock { $0 } }

    func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        recorded.withLock { $0.append(request) }
        return try await base.send(request)
    }
}

extension HTTPTransport {
    /// Sends requests that somebody else has made up to that server, so many at a time, and returns how many bytes came
    /// back.
    ///
    /// - Throws: ``WrongResult`` for any answer but a 2xx.
    func send(_ requests: [HTTPTransportRequest], to server: URL, inFlight: Int) async throws -> Int {
        let requests = requests.map { request in
            var request = request
            request.head.authority = "\(server.host() ?? ""):\(server.port ?? 80)"
            return request
        }
        return try await withThrowingTaskGroup(of: Int.self) { group in
            for first in 0..<inFlight {
                group.addTask {
                    var bytes = 0
                    for index in stride(from: first, to: requests.count, by: inFlight) {
                        let response = try await send(requests[index])
                        guard response.head.status.kind == .successful else {
                            throw WrongResult("The server answered with \(response.head.status).")
                        }
                        bytes += response.body.count
                    }
                    return bytes
                }
            }
            return try await group.reduce(0, +)
        }
    }
}

/// Foundation's HTTP client as it comes.
struct BareClient: HTTPTransport {
    private let session = URLSession(configuration: .ephemeral)

    func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        var urlRequest = URLRequest(url: request.head.url ?? CannedPages.url)
        urlRequest.httpMethod = request.head.method.rawValue
        urlRequest.httpBody = request.body
        for field in request.head.headerFields {
            urlRequest.setValue(field.value, forHTTPHeaderField: field.name.rawName)
        }
        return try await withCheckedThrowingContinuation { continuation in
            let task = session.dataTask(with: urlRequest) { data, response, error in
                if let data, let response = response as? HTTPURLResponse {
                    continuation.resume(
                        returning: HTTPTransportResponse(
                            status: HTTPResponse.Status(code: response.statusCode), body: data))
                } else {
                    continuation.resume(throwing: error ?? WrongResult("There was no answer."))
                }
            }
            task.resume()
        }
    }
}
