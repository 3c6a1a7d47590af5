// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import SyncCore

/// A fault of one request.
enum NetworkFault: Sendable, CaseIterable {
    /// The request does not arrive.
    case lostRequest
    /// The request is executed, and its response does not arrive.
    case lostResponse
    /// The request arrives a second time, later.
    case duplicated
    /// The response ends in the middle of its body.
    case truncated
    /// The body of the response is garbage.
    case garbled
    /// A gateway answers, and the request does not arrive.
    case statusBefore
    /// The request is executed, and a gateway answers with an error.
    case statusAfter
    /// A cache answers a list with an older response to the same request.
    case stalePage
    /// A cache answers all page requests of one pull with the first page.
    case repeatedPage
    /// Another user changes the row before the response to a write arrives.
    case overtaken
    /// The exchange takes up to two minutes.
    case slow
    /// The device is cut off in both directions, or from responses only.
    case partition

    /// Whether a response with this fault can lack states of rows that the server had at the time of the request.
    var returnsOldPages: Bool { self == .stalePage || self == .repeatedPage }

    /// Whether the fault concerns requests of this kind.
    func concerns(_ phase: RequestPhase) -> Bool {
        switch self {
        case .stalePage, .repeatedPage: phase == .list
        case .overtaken: phase.isWrite
        default: true
        }
    }
}

/// The faults of one network; drawn from the seed.
struct NetworkTraits: Sendable {
    /// The greatest latency of each direction, in nanoseconds.
    var maxLatency: Int64 = 1_000_000
    /// Whether requests that are on their way when their process ends do not arrive.
    var endsWithProcess = false
    /// The probability of each fault, in percent of requests.
    var rates: [NetworkFault: Int] = [:]
    /// Whether only requests fail that the server has not applied.
    var failsUnappliedOnly = false

    var hasStalePages: Bool { rates[.stalePage] != nil }
    /// Whether a cache can answer with a page from before the request.
    var hasOldPages: Bool { hasStalePages || rates[.repeatedPage] != nil }

    static func draw(_ random: inout SimulationRandom, _ mode: SimulationMode) -> NetworkTraits {
        var traits = NetworkTraits()
        traits.endsWithProcess = mode == .solo
        traits.maxLatency = random.pick([1_000_000, 64_000_000, 512_000_000, 4_000_000_000])
        guard random.percent(75) else { return traits }
        for fault in NetworkFault.allCases where fault != .partition {
            if random.percent(45) { traits.rates[fault] = random.pick([3, 10, 25]) }
        }
        if traits.rates[.slow] != nil { traits.rates[.slow] = 3 }
        if mode == .solo {
            // A second arrival of a request and an old page are changes that the device has not made now.
            let others: [NetworkFault] = [.duplicated, .stalePage, .repeatedPage, .overtaken]
            for fault in others { traits.rates[fault] = nil }
        }
        return traits
    }
}

/// The answers of gateways, and of servers that are not well.
enum GatewayResponse {
    /// Answers after which the server may have applied the request.
    static let ambiguous = ["500", "502", "503", "504", "408", "511", "200-page", "302", "500-empty", "520"]
    /// Answers that are given only if the request was not applied. A gateway reports no conflicts: it does not know rows.
    static let refusals = [
        "400", "401", "403-page", "403", "413", "425", "429", "429-date", "503-negative", "503-long",
        "503-word", "407",
    ]

    /// Refusals of requests that were not processed.
    static let unprocessed = ["401", "407", "425", "429", "429-date"]

    static func make(_ name: String, now: Int64) -> HTTPTransportResponse {
        let status = Int(name.prefix(3)) ?? 500
        var fields: HTTPFields = [.contentType: "application/json"]
        var body = Data("{\"error\":\"refused\"}".utf8)
        switch name {
        case "429": fields[.retryAfter] = "2"
        case "429-date":
            // The clock of a device can be wrong: its date is seconds after the date of the response.
            fields[.retryAfter] = ModelTime(nanoseconds: now + 3_000_000_000).httpDate
            fields[.date] = ModelTime(nanoseconds: now).httpDate
        case "503-negative": fields[.retryAfter] = "-5"
        case "503-long": fields[.retryAfter] = "99999"
        case "503-word": fields[.retryAfter] = "soon"
        case "302": fields[.location] = "https://elsewhere.example/login"
        default: break
        }
        if name.hasSuffix("-page") || status == 502 || status == 511 {
            fields[.contentType] = "text/html"
            body = Data("<html>Sign in</html>".utf8)
        }
        if name.hasSuffix("-empty") || [408, 503, 504, 302].contains(status) { body = Data() }
        return HTTPTransportResponse(status: .init(code: status), headerFields: fields, body: body)
    }
}
