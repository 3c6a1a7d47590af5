// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncModels
import Synchronization
import Testing

/// The events of an automatic sync's rounds.
@Suite struct RoundEventTests {
    @Test func `each round is an event with its cause and outcome`() async throws {
        let ended = Mutex<[SyncEvent.RoundEnded]>([])
        var settings = SyncSettings()
        settings.onEvent = { event in
            guard case .roundEnded(let round) = event else { return }
            ended.withLock { $0.append(round) }
        }
        try await VirtualSystem.run { [settings] system in
            let device = try system.device(pulls: [Todo.all.pull(every: .seconds(300))], settings: settings)

            /// Lets time pass, and expects one round.
            func expectRound(
                _ cause: SyncEvent.RoundCause, _ outcome: SyncEvent.Outcome = .completed,
                after duration: Duration = .seconds(5),
                sourceLocation: SourceLocation = #_sourceLocation
            ) async {
                await system.advance(duration)
                let rounds = ended.withLock { rounds in
                    defer { rounds = [] }
                    return rounds
                }
                #expect(rounds.map(\.cause) == [cause], sourceLocation: sourceLocation)
                #expect(rounds.map(\.outcome) == [outcome], sourceLocation: sourceLocation)
                #expect(rounds.allSatisfy { $0.duration > .zero }, sourceLocation: sourceLocation)
            }

            device.run()
            await expectRound(.start)
            try await device.insert("milk")
            await expectRound(.localChange)
            await expectRound(.interval, after: .seconds(300))
            device.sync.signal(.serverHint(tables: ["TodoItem"]))
            await expectRound(.serverHint)
            device.sync.signal(.background)
            device.sync.signal(.foreground)
            await expectRound(.foreground)
            device.sync.signal(.networkUnavailable)
            device.sync.signal(.networkAvailable)
            await expectRound(.network)
            device.network.condition = .status(401)
            device.sync.signal(.serverHint(tables: ["TodoItem"]))
            await expectRound(.serverHint, .aborted)
            device.network.condition = .up
            device.sync.signal(.signedIn)
            await expectRound(.signedIn)
            device.network.condition = .status(503, retryAfter: "7200")
            device.sync.signal(.serverHint(tables: ["TodoItem"]))
            await expectRound(.serverHint, .aborted)
            device.network.condition = .up
            await expectRound(.retry, after: .seconds(7250))
            _ = try await system.perform { try await device.sync.syncNow() }
            await expectRound(.request)
            try await device.insert("eggs")
            _ = try await system.perform { await device.sync.finish(within: .seconds(5)) }
            await expectRound(.finish, after: .milliseconds(100))
        }
    }
}
