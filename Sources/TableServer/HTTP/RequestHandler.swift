// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logging
import SyncCore

/// Handles a request with its injected fault, if any, and returns what to send on the connection.
struct RequestHandler: Sendable {
    let service: TableService
    let log: RequestLog
    let faults: FaultScript
    let stopSignal: StopSignal
    let metrics = ServerMetrics()

    /// What to send on the connection.
    enum Outcome: Sendable {
        case respond(ServerResponse)
        /// The head and the first bytes of the body; then the connection closes.
        case truncate(ServerResponse, byteCount: Int)
        case closeConnection
    }

    func handle(_ request: RecordedRequest) async throws -> Outcome {
        let start = ContinuousClock.now
        let fault = await faults.fault(for: request)
        let outcome = try await handle(request, fault.kind)
        switch outcome {
        case .respond(let response), .truncate(let response, _):
            log.setStatus(response.status, of: request)
            observe(request, status: response.status, start.duration(to: .now))
        case .closeConnection: break
        }
        return outcome
    }

    /// Counts and logs a request. Ids, queries and bodies can be secret, so the log contains none.
    private func observe(_ request: RecordedRequest, status: Int, _ duration: Duration) {
        let table = request.table.flatMap { service.settings.table(named: $0) }?.name ?? ""
        let seconds = duration / .seconds(1)
        metrics.record(method: request.method, table: table, status: status, seconds: seconds)
        service.settings.logger.info(
            "request",
            metadata: [
                "number": "\(request.id)", "method": "\(request.method)", "table": "\(table)",
                "status": "\(status)", "milliseconds": "\((seconds * 1000).rounded())",
            ])
    }

    private func handle(_ request: RecordedRequest, _ fault: ServerFault.Kind) async throws -> Outcome {
        switch fault {
        case .none:
            return .respond(await apply(request))
        case .dropRequest:
            return .closeConnection
        case .dropResponse:
            _ = await apply(request)
            return .closeConnection
        case .respond(let scripted, let appliesRequest):
            if appliesRequest { _ = await apply(request) }
            let headers = scripted.headers.map { (name: $0.key, value: $0.value) }
            return .respond(ServerResponse(status: scripted.status, headers: headers, body: scripted.body))
        case .truncate(let count):
            return .truncate(await apply(request), byteCount: count)
        case .editRows(let edit):
            var response = await apply(request)
            if let list = try? ItemValue(json: response.body) {
                response.body = list.editingRows(edit).json
            }
            return .respond(response)
        case .applyTwice(let sendsFirstResponse):
            let first = await apply(request)
            let second = await apply(request)
            return .respond(sendsFirstResponse ? first : second)
        case .hold(let gate, let then):
            try await gate.wait(until: stopSignal)
            return try await handle(request, then)
        case .commitLate(let gate):
            let stamp = RowStampSettings(service.settings).now
            try await gate.wait(until: stopSignal)
            return .respond(await apply(request, stamp: stamp))
        }
    }

    /// Returns the response with a `Date` from before the rows are read: a client takes it for a time until which the
    /// response has all changes.
    private func apply(_ request: RecordedRequest, stamp: Timestamp? = nil) async -> ServerResponse {
        let date = service.settings.clock.now.httpDate
        var response = await response(to: request, stamp)
        response.headers.append(("Date", date))
        return response
    }

    private func response(to request: RecordedRequest, _ stamp: Timestamp?) async -> ServerResponse {
        if request.isServerLocal, request.isRebound(servedAs: service.settings.host) {
            return RequestError.rebound.response
        }
        do {
            if let page = try await page.response(to: request) { return page }
        } catch {
            return service.response(to: error, in: request)
        }
        if service.settings.showsMetrics, request.method == "GET", request.path == "/metrics" {
            return metrics.response
        }
        return await service.respond(to: request, stamp: stamp)
    }

    private var page: StatusPage {
        StatusPage(settings: service.settings, storage: service.storage, log: log)
    }
}

extension ItemValue {
    /// Returns the list with edited rows, in each of its forms; anything else is unchanged.
    fileprivate func editingRows(_ edit: ([ItemValue]) -> [ItemValue]) -> ItemValue {
        switch self {
        case .array(let rows): return .array(edit(rows))
        case .object(var object):
            for name in ["items", "results"] {
                if case .array(let rows)? = object[name] { object[name] = .array(edit(rows)) }
            }
            return .object(object)
        default: return self
        }
    }
}
