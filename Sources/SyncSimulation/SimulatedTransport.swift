// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import SyncCore
import Synchronization

/// Which faults a network has, in percent of requests.
struct NetworkTraits: Sendable {
    var maxLatency: Int64 = 512_000_000
    var lostRequest = 0
    var lostResponse = 0
    var duplicated = 0
    var statusBefore = 0
    var statusAfter = 0
    var truncated = 0
}

/// A network between one client and the model server, with faults drawn for each request.
final class SimulatedTransport: HTTPTransport {
    private let server: ModelServer
    private let scheduler: SimulationScheduler
    private let client: String
    private let seed: UInt64
    private let traits: Mutex<NetworkTraits>
    private let count = Mutex<[UInt64: UInt64]>([:])
    let log: @Sendable (String) -> Void

    init(
        server: ModelServer, scheduler: SimulationScheduler, client: String, seed: UInt64, traits: NetworkTraits,
        log: @escaping @Sendable (String) -> Void
    ) {
        (self.server, self.scheduler, self.client, self.seed) = (server, scheduler, client, seed)
        self.traits = Mutex(traits)
        self.log = log
    }

    /// Ends all faults.
    func heal() { traits.withLock { $0 = NetworkTraits(maxLatency: 1_000_000) } }

    private struct Lost: Error {}

    func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        let act = KeyedDraws.act
        let ordinal = count.withLock { count in
            count[act, default: 0] += 1
            return count[act, default: 0]
        }
        var random = SimulationRandom(seed, act, ordinal, 7)
        let traits = traits.withLock { $0 }
        func latency() -> Int64 {
            // Log-uniform: most requests are quick, some take long.
            let bits = 64 - traits.maxLatency.leadingZeroBitCount
            return Int64(random.next() & ((1 << UInt64(random.below(max(1, bits)))) &- 1)) % max(1, traits.maxLatency)
        }
        let (there, back) = (latency(), latency())
        let name = "\(client) \(request.head.method) \(request.head.path ?? "")"
            + (request.body.map { " " + String(decoding: $0, as: UTF8.self) } ?? "")
            + (request.head.headerFields[.ifMatch].map { " If-Match \($0)" } ?? "")
        try await scheduler.sleep(there)
        if random.percent(traits.lostRequest) {
            log("\(name) lost")
            throw Lost()
        }
        if random.percent(traits.statusBefore) {
            let response = Self.failure(random.below(6))
            log("\(name) -> \(response.head.status.code) before")
            return response
        }
        var response = server.respond(to: request, from: client)
        log("\(name) -> \(response.head.status.code) \(String(decoding: response.body, as: UTF8.self).prefix(300))")
        if random.percent(traits.duplicated) {
            let (server, client) = (server, client)
            let log = log
            scheduler.schedule(after: latency()) {
                let again = server.respond(to: request, from: client)
                log("\(name) again -> \(again.head.status.code)")
            }
        }
        let isAfter = random.percent(traits.statusAfter), isTruncated = random.percent(traits.truncated)
        let isLost = random.percent(traits.lostResponse)
        try await scheduler.sleep(back)
        if isLost {
            log("\(name) response lost")
            throw Lost()
        }
        if isAfter {
            log("\(name) status after")
            return Self.failure(random.below(5))
        }
        if isTruncated, !response.body.isEmpty {
            log("\(name) truncated")
            response.body = response.body.prefix(response.body.count / 2)
        }
        return response
    }

    private static func failure(_ number: Int) -> HTTPTransportResponse {
        let json: HTTPFields = [.contentType: "application/json"]
        let body = Data("{\"error\":\"no\"}".utf8)
        return switch number {
        case 0: HTTPTransportResponse(status: 500, headerFields: json, body: body)
        case 1: HTTPTransportResponse(status: 503)
        case 2: HTTPTransportResponse(status: 502, headerFields: [.contentType: "text/html"], body: Data("<html>".utf8))
        case 3: HTTPTransportResponse(status: 408)
        case 4: HTTPTransportResponse(status: 200, headerFields: [.contentType: "text/html"], body: Data("<html>".utf8))
        default: HTTPTransportResponse(status: 429, headerFields: [.retryAfter: "2"])
        }
    }
}
