// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import Synchronization
import TableServer
import Testing

/// Devices that change the same rows concurrently over an unreliable network converge.
@Suite struct ConvergenceTests {
    @Test(arguments: 1...24)
    func `devices with conflicting changes and network faults converge`(_ seed: Int) async throws {
        try await run(on: .memory, seed: seed)
    }

    @Test(arguments: StoreKind.allCases.filter { $0 != .memory }, 101...104)
    func `devices with conflicting changes and network faults converge on every store`(
        _ kind: StoreKind, _ seed: Int
    ) async throws {
        try await run(on: kind, seed: seed)
    }

    private static let resolvers: [ConflictResolver] = [
        .serverWins, .clientWins, .lastWriterWins, .fieldMerge(onClash: .serverWins),
        .fieldMerge(onClash: .clientWins), .updateWins(otherwise: .clientWins),
        .deleteWins(otherwise: .serverWins),
    ]

    private func run(on kind: StoreKind, seed: Int) async throws {
        let random = SharedRandomGenerator(seed: UInt64(seed))
        try await Scenario.run(on: kind, configure: { $0.clock = .standing(at: .unixEpoch) }) { scenario in
            var devices: [Device] = []
            // A corrected item waits until no request of the former content can still arrive.
            let haveRequestsEnded = Mutex(false)
            for name in ["A", "B", "C"] {
                var settings = SyncSettings()
                settings.parkAfterRefusals = .max
                settings.maxConcurrentOperations = 1 + random.below(3)
                settings.resolver = Self.resolvers[random.below(Self.resolvers.count)]
                devices.append(
                    try scenario.device(name, settings: settings) { environment in
                        environment.uptime = { haveRequestsEnded.withLock { $0 ? .seconds(200) : .zero } }
                    })
            }
            scenario.server.onRequest { request in
                scenario.server.clock.advance(by: .milliseconds(1))
                return Self.fault(random, request)
            }
            for _ in 0..<40 {
                let device = devices[random.below(devices.count)]
                for _ in 0..<random.below(4) { await change(device, random) }
                async let pushed = try? device.context.push()
                async let pulled = random.below(2) == 0 ? try? pull(device) : nil
                await change(device, random)
                _ = await (pushed, pulled)
            }
            scenario.server.onRequest { _ in
                scenario.server.clock.advance(by: .milliseconds(1))
                return .none
            }
            haveRequestsEnded.withLock { $0 = true }
            try await syncUntilIdle(devices)
            for device in devices { try await scenario.expectAgreement(device) }
        }
    }

    /// Syncs all devices until no change is left.
    private func syncUntilIdle(_ devices: [Device]) async throws {
        for _ in 0..<6 {
            for device in devices {
                _ = try? await device.context.push()
                try await pull(device)
            }
        }
    }

    /// Pulls with an overlap: concurrent requests can have equal timestamps, or commit in another order than that of
    /// their timestamps.
    private func pull(_ device: Device) async throws {
        var settings = PullSettings.withoutPush
        settings.overlap = .milliseconds(8)
        try await device.context.pull(Todo.query, queryID: "all", settings: settings)
    }

    private func change(_ device: Device, _ random: SharedRandomGenerator) async {
        let id = "row-\(random.below(5))"
        let value = ItemValue.int(Int64(random.below(1000)))
        switch random.below(6) {
        case 0, 1: _ = try? await device.table.insert(["id": .text(id), "priority": value])
        case 2: _ = try? await device.table.update(id: id, ["priority": value])
        case 3: _ = try? await device.table.update(id: id, ["text": .text("\(random.below(1000))")])
        case 4: _ = try? await device.table.update(id: id, ["note": "local"])
        default: try? await device.table.delete(id: id)
        }
    }

    private static func fault(_ random: SharedRandomGenerator, _ request: RecordedRequest) -> ServerFault {
        switch random.below(12) {
        case 0: .dropRequest
        case 1: request.isWrite ? .dropAnswer : .dropRequest
        case 2: .refusal(503)
        case 3: request.isWrite ? .refusalAfterCommit(500) : .refusal(500)
        case 4: .truncateAnswer(afterBytes: 7)
        case 5: request.isWrite ? .applyTwice : .none
        default: .none
        }
    }
}
