// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

/// Takes a request through the fault that was asked for, if any, and says what goes out on the connection.
struct RequestHandler: Sendable {
    let service: TableService
    let log: RequestLog
    let faults: FaultScript
    let stopSignal: StopSignal

    /// What goes out on the connection.
    enum Outcome: Sendable {
        case answer(Answer)
        /// The head and that many bytes of the body, then the end of the connection.
        case truncated(Answer, Int)
        case hangUp
    }

    func handle(_ request: RecordedRequest) async throws -> Outcome {
        let fault = await faults.fault(for: request)
        let outcome = try await handle(request, fault.kind)
        switch outcome {
        case .answer(let answer), .truncated(let answer, _): log.setStatus(answer.status, of: request)
        case .hangUp: break
        }
        return outcome
    }

    private func handle(_ request: RecordedRequest, _ fault: ServerFault.Kind) async throws -> Outcome {
        switch fault {
        case .none:
            return .answer(await apply(request))
        case .dropRequest:
            return .hangUp
        case .dropAnswer:
            _ = await apply(request)
            return .hangUp
        case .answer(let madeUp, let appliesFirst):
            if appliesFirst { _ = await apply(request) }
            let headers = madeUp.headers.map { (name: $0.key, value: $0.value) }
            return .answer(Answer(status: madeUp.status, headers: headers, body: madeUp.body))
        case .truncate(let count):
            return .truncated(await apply(request), count)
        case .editRows(let edit):
            var answer = await apply(request)
            if case .array(let rows)? = try? ItemValue(json: answer.body) {
                answer.body = ItemValue.array(edit(rows)).json
            }
            return .answer(answer)
        case .applyTwice(let answersFirst):
            let first = await apply(request)
            let second = await apply(request)
            return .answer(answersFirst ? first : second)
        case .hold(let gate, let then):
            try await gate.pass(until: stopSignal)
            return try await handle(request, then)
        case .commitLate(let gate):
            let stamp = service.stamp
            try await gate.pass(until: stopSignal)
            return .answer(await service.answer(request, stamp: stamp))
        }
    }

    private func apply(_ request: RecordedRequest) async -> Answer {
        await service.answer(request, stamp: service.stamp)
    }
}
