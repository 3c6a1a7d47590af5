// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import SyncCore
import Synchronization
import TableServer
import Testing

/// After any sequence of responses, each operation is completed, pending, or reported by the last push.
@Suite struct ResponseSequenceTests {
    @Test(arguments: StoreKind.allCases, 0..<12)
    func `after any sequence of responses, every remaining operation is reported by the next push`(
        _ kind: StoreKind, _ part: Int
    ) async throws {
        for seed in (part * 4)..<(part * 4 + 4) {
            try await Scenario.run(on: kind) { scenario in
                try await run(scenario, seed: UInt64(seed))
            }
        }
    }

    private func run(_ scenario: Scenario, seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        var settings = SyncSettings()
        settings.retry.maxAttempts = Int.random(in: 1...2, using: &random)
        settings.parkAfterRefusals = Int.random(in: 1...3, using: &random)
        let uptime = Mutex(Duration.zero)
        let a = try scenario.device(settings: settings) { $0.uptime = { uptime.withLock(\.self) } }
        for id in ["a", "b"] {
            try await scenario.server.put(id, ["text": "server"], in: Todo.name)
        }
        try await a.sync()
        let responses = ResponseGenerator(seed: seed)
        scenario.server.onRequest { _ in responses.next() }
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            for _ in 0..<Int.random(in: 0...3, using: &random) { await change(a, &random) }
            _ = await a.pushErrors()
        }
        scenario.server.onRequest(nil)
        // Without another local write, the next push sends all operations that need no decision, once no earlier request can
        // still arrive.
        uptime.withLock { $0 = .seconds(120) }
        let reported = Set(await a.pushErrors().map(\.operationID))
        let remaining = try await a.operations()
        #expect(remaining.allSatisfy { reported.contains($0.id) }, "seed \(seed): \(remaining)")
        let status = try await a.context.status()
        let waiting = status.parkedOperations + status.conflictingOperations + status.heldOperations
        #expect(waiting == remaining.count, "seed \(seed): \(remaining)")
    }

    private func change(_ a: Device, _ random: inout SeededGenerator) async {
        let id = ["a", "b", "c", "d"].randomElement(using: &random) ?? "a"
        let value = ItemValue.int(Int64.random(in: 0...9, using: &random))
        switch Int.random(in: 0...3, using: &random) {
        case 0: try? await a.table.delete(id: id)
        case 1: _ = try? await a.table.insert(["id": .text(id), "priority": value])
        default: _ = try? await a.table.update(id: id, ["priority": value])
        }
    }
}

/// Generates faults: responses of every status and form of body, before or instead of the real one.
private final class ResponseGenerator: Sendable {
    private let random: Mutex<SeededGenerator>

    private static let bodies = [
        "", #"{"error":"no"}"#, "[]", #"{"id":"a","version":"made-up"}"#, "<html>portal</html>",
        #"{"id":"a","te"#, "plain text",
    ]

    init(seed: UInt64) { random = Mutex(SeededGenerator(seed: seed &+ 1000)) }

    func next() -> ServerFault {
        random.withLock { random in
            switch Int.random(in: 0...9, using: &random) {
            case 0...2: return .none
            case 3: return .dropRequest
            case 4: return .dropAnswer
            default: break
            }
            // Servers use the low statuses of a class most.
            let offset = Int.random(in: 0...(Bool.random(using: &random) ? 29 : 99), using: &random)
            let status = Int.random(in: 2...5, using: &random) * 100 + offset
            let body = Data((Self.bodies.randomElement(using: &random) ?? "").utf8)
            let hasBody = status != 204 && status != 304
            return Bool.random(using: &random)
                ? .answer(status: status, body: hasBody ? body : Data())
                : .applyThenAnswer(status: status, body: hasBody ? body : Data())
        }
    }
}
