// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import SyncCore
import Synchronization

/// The network between one process and the model server, with faults drawn for each request.
final class SimulatedTransport: HTTPTransport {
    private struct State {
        var traits: NetworkTraits
        /// The number of requests of each act.
        var counts: [UInt64: UInt64] = [:]
        var partition: Partition?
        var hasEnded = false
        /// The rows of the writes that have not ended.
        var runningWrites: [RowKey] = []
        /// Called once with the next response to each act.
        var responseHandlers: [UInt64: @Sendable () -> Void] = [:]
        /// The last response to each list request.
        var cache: [String: HTTPTransportResponse] = [:]
        /// The first page of each list that an act has requested.
        var firstPages: [String: HTTPTransportResponse] = [:]
    }

    /// A time in which the device is cut off.
    struct Partition: Sendable {
        let end: Int64
        /// Whether requests arrive, and only responses are lost.
        let isOneWay: Bool
    }

    private let server: ModelServer
    private let scheduler: SimulationScheduler
    private let author: String
    private let seed: UInt64
    private let state: Mutex<State>
    private let events: Events
    private let check: RequestCheck

    /// What a network tells the simulation.
    struct Events: Sendable {
        var log: @Sendable (@autoclosure () -> String) -> Void = { _ in }
        var didFail: @Sendable (NetworkFault, ModelRequest) -> Void = { _, _ in }
        var didRespond: @Sendable (HTTPTransportResponse, ModelRequest) -> Void = { _, _ in }
        /// Called before a request is sent.
        var willSend: @Sendable (ModelRequest) -> Void = { _ in }
        /// Called when a request arrives after its process has ended.
        var arrivesLate: @Sendable (ModelRequest) -> Void = { _ in }
        /// Called when a second copy of a request arrives.
        var copyArrives: @Sendable (ModelRequest) -> Void = { _ in }
        /// Called with the rule that a request breaks.
        var didBreak: @Sendable (String) -> Void = { _ in }
        /// Returns the states of the request's row that the device has.
        var knownStates: @Sendable (ModelRequest) -> Set<ModelServer.RowState> = { _ in [] }
    }

    init(
        server: ModelServer, scheduler: SimulationScheduler, author: String, seed: UInt64,
        traits: NetworkTraits, check: RequestCheck, events: Events
    ) {
        (self.server, self.scheduler, self.author, self.seed) = (server, scheduler, author, seed)
        state = Mutex(State(traits: traits))
        (self.check, self.events) = (check, events)
    }

    /// Ends all faults.
    func heal() { state.withLock { ($0.traits, $0.partition) = (NetworkTraits(), nil) } }

    /// Cuts the process off.
    func partition(_ partition: Partition) { state.withLock { $0.partition = partition } }

    func endPartition() { state.withLock { $0.partition = nil } }

    /// Calls the handler with the next response to a request of the act.
    func onResponse(of act: UInt64, _ handler: @escaping @Sendable () -> Void) {
        state.withLock { $0.responseHandlers[act] = handler }
    }

    /// Ends the process: it sends nothing from now on.
    func end() { state.withLock { $0.hasEnded = true } }

    private struct NoResponse: Error {
        /// Whether the device knows that nothing was sent.
        var isUnsent = false
    }

    func send(_ sent: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        let request = ModelRequest(sent)
        let act = CurrentAct.number
        if state.withLock({ $0.hasEnded }) { throw NoResponse() }
        events.willSend(request)
        if let rule = check.willSend(request, act: act, now: scheduler.nanoseconds) {
            events.didBreak("\(request.summary): \(rule)")
        }
        if request.phase.isWrite, let row = request.row {
            state.withLock { $0.runningWrites.append(row) }
        }
        defer {
            check.didReturn(request, act: act)
            didReturn(request)
        }
        do {
            let response = try await exchange(request, act)
            check.didEnd(request, with: response, act: act, now: scheduler.nanoseconds)
            events.didRespond(response, request)
            state.withLock { $0.responseHandlers.removeValue(forKey: act) }?()
            return response
        } catch let error as NoResponse {
            check.didEnd(request, with: nil, act: act, now: scheduler.nanoseconds)
            if error.isUnsent { throw NetworkFailure(.unreachable, host: "server.example", port: 443) }
            throw error
        }
    }

    /// The rows of the writes that have not ended.
    var runningWrites: [RowKey] { state.withLock { $0.runningWrites } }

    private func didReturn(_ request: ModelRequest) {
        guard request.phase.isWrite, let row = request.row else { return }
        state.withLock { state in
            guard let index = state.runningWrites.firstIndex(of: row) else { return }
            state.runningWrites.remove(at: index)
        }
    }

    private func exchange(
        _ request: ModelRequest, _ act: UInt64
    ) async throws -> HTTPTransportResponse {
        let (traits, ordinal) = state.withLock { state in
            state.counts[act, default: 0] += 1
            return (state.traits, state.counts[act, default: 0])
        }
        var random = SimulationRandom(seed, act, ordinal, SimulationRandom.Stream.network.rawValue)
        let maxLatency = random.percent(traits.rates[.slow] ?? 0) ? 120_000_000_000 : traits.maxLatency
        let (there, back) = (random.logUniform(below: maxLatency), random.logUniform(below: maxLatency))
        let faults = Set(
            NetworkFault.allCases.filter { random.percent(traits.rates[$0] ?? 0) }.map { $0 })
        let choice = Int(random.next() >> 33)
        let known = events.knownStates(request)
        if maxLatency > traits.maxLatency { events.didFail(.slow, request) }
        try await scheduler.sleep(there)
        if state.withLock({ $0.hasEnded }) {
            if traits.endsWithProcess { throw NoResponse() }
            events.arrivesLate(request)
        }
        let isUnsent = traits.failsUnappliedOnly || choice.isMultiple(of: 2)
        if faults.contains(.lostRequest) { throw lost(.lostRequest, request, isUnsent: isUnsent) }
        let partition = currentPartition
        if let partition, !partition.isOneWay { throw lost(.partition, request, isUnsent: isUnsent) }
        if faults.contains(.statusBefore) {
            let all = GatewayResponse.ambiguous + GatewayResponse.refusals
            let names = traits.failsUnappliedOnly ? GatewayResponse.unprocessed : all
            return gateway(names[choice % names.count], .statusBefore, request)
        }
        // The fault holds for all requests of an act.
        var actRandom = SimulationRandom(seed, act, SimulationRandom.Stream.network.rawValue)
        let isRepeated = act != 0 && actRandom.percent(traits.rates[.repeatedPage] ?? 0)
        let response =
            isRepeated && request.phase == .list
            ? firstPage(for: request, act, known)
            : execute(request, known, isStale: faults.contains(.stalePage))
        if faults.contains(.overtaken), request.phase.isWrite, let row = request.row {
            events.didFail(.overtaken, request)
            // No device and no other act makes this number.
            let number = (Int64(act & 0xFFFF) * 64 + Int64(ordinal) + 10_000) * History.deviceCount
            server.overtake(row, by: number)
        }
        if faults.contains(.duplicated) {
            events.didFail(.duplicated, request)
            scheduler.schedule(after: random.logUniform(below: maxLatency)) { [server, author, events] in
                events.copyArrives(request)
                let again = server.respond(to: request, from: author, known: known)
                events.log("\(author) \(request.summary) arrives again -> \(again.head.status.code)")
            }
        }
        // An overtaken response is late enough for a pull of the other user's change.
        try await scheduler.sleep(faults.contains(.overtaken) ? back + 1_000_000_000 : back)
        if partition != nil || currentPartition != nil { throw lost(.partition, request) }
        if faults.contains(.lostResponse) { throw lost(.lostResponse, request) }
        if faults.contains(.statusAfter) {
            return gateway(
                GatewayResponse.ambiguous[choice % GatewayResponse.ambiguous.count], .statusAfter, request)
        }
        return damaged(response, faults, choice, request)
    }

    private func execute(
        _ request: ModelRequest, _ known: Set<ModelServer.RowState>, isStale: Bool
    ) -> HTTPTransportResponse {
        let isList = request.phase == .list
        let path = request.original.head.path ?? ""
        if isStale, isList, let old = state.withLock({ $0.cache[path] }) {
            events.didFail(.stalePage, request)
            events.log("\(author) \(request.summary) -> an older response")
            return old
        }
        let response = server.respond(to: request, from: author, known: known)
        if isList { state.withLock { if $0.traits.hasStalePages { $0.cache[path] = response } } }
        events.log(
            "\(author) \(request.summary) -> \(response.head.status.code) \(String(decoding: response.body, as: UTF8.self))"
        )
        return response
    }

    /// Returns the response to the first request of this act for a list with the same order.
    private func firstPage(
        for request: ModelRequest, _ act: UInt64, _ known: Set<ModelServer.RowState>
    ) -> HTTPTransportResponse {
        let parameters = request.parameters
        guard let order = parameters["$orderby"] else { return execute(request, known, isStale: false) }
        let key = "\(act) \(request.path) \(order) \(parameters["$select"] ?? "")"
        if let first = state.withLock({ $0.firstPages[key] }) {
            events.didFail(.repeatedPage, request)
            events.log("\(author) \(request.summary) -> the first page again")
            return first
        }
        let response = execute(request, known, isStale: false)
        state.withLock { $0.firstPages[key] = response }
        return response
    }

    private func damaged(
        _ response: HTTPTransportResponse, _ faults: Set<NetworkFault>, _ choice: Int,
        _ request: ModelRequest
    ) -> HTTPTransportResponse {
        var response = response
        if faults.contains(.truncated), response.body.count > 2 {
            events.didFail(.truncated, request)
            events.log("\(author) \(request.summary) is truncated")
            response.body = response.body.prefix(choice % (response.body.count - 1))
        } else if faults.contains(.garbled) {
            events.didFail(.garbled, request)
            events.log("\(author) \(request.summary) is garbled")
            response.body = Data([0xFF, 0xFE, UInt8(truncatingIfNeeded: choice), 0x00, 0x7B])
        }
        return response
    }

    private var currentPartition: Partition? {
        let now = scheduler.nanoseconds
        return state.withLock { state in
            if let end = state.partition?.end, end <= now { state.partition = nil }
            return state.partition
        }
    }

    private func lost(
        _ fault: NetworkFault, _ request: ModelRequest, isUnsent: Bool = false
    ) -> NoResponse {
        events.didFail(fault, request)
        events.log("\(author) \(request.summary): \(fault)\(isUnsent ? ", not sent" : "")")
        return NoResponse(isUnsent: isUnsent)
    }

    private func gateway(
        _ name: String, _ fault: NetworkFault, _ request: ModelRequest
    ) -> HTTPTransportResponse {
        events.didFail(fault, request)
        events.log("\(author) \(request.summary): \(fault) \(name)")
        return GatewayResponse.make(name, now: scheduler.nanosecondsSince1970)
    }
}
