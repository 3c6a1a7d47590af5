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
    /// Starts a server on this machine with pages of 1000 rows.
    static func startForBenchmark() async throws -> TableServer {
        var configuration = Configuration(tables: [.init(TodoRow.table)])
        configuration.pageSize = 1000
        return try await start(configuration: configuration)
    }

    /// Writes a number of rows into the table, with one `updatedAt` per thousand rows.
    func fill(count: Int) async throws {
        for start in stride(from: 0, to: count, by: 1000) {
            let rows = (start..<min(start + 1000, count)).map { TodoRow($0) }
            try await put(rows.map { (id: $0.id, fields: $0.fields) }, in: TodoRow.table)
        }
    }
}

/// The HTTP client of a context.
enum HTTPClientKind: CaseIterable {
    case urlSession, asyncHTTP

    /// The suffix of a contender's name.
    var suffix: String { self == .urlSession ? "" : " with AsyncHTTP" }

    func makeTransport() -> any HTTPTransport {
        self == .urlSession ? URLSessionTransport() : AsyncHTTPTransport()
    }
}

/// A transport that records its requests.
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
    /// Sends recorded requests to a server, `inFlight` at a time, and returns the size of the response bodies in bytes.
    ///
    /// - Throws: ``WrongResult`` for a status other than 2xx.
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
                            throw WrongResult("The server returned the status \(response.head.status).")
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

/// Foundation's HTTP client without the framework.
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
                    continuation.resume(throwing: error ?? WrongResult("No response was received."))
                }
            }
            task.resume()
        }
    }
}
