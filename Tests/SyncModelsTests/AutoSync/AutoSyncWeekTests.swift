// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreMemory
import SyncModels
import Testing

@testable import SyncSimulation

/// A week of three devices with 50 outages, sign-outs, suspensions, restarts and 1000 edits.
@Suite struct AutoSyncWeekTests {
    @Test(arguments: UInt64(1)...2)
    func `after a week of troubles all devices are equal, and few requests were sent`(_ seed: UInt64)
        async throws
    {
        try await VirtualSystem.run(seed: seed) { system in
            var run = try WeekRun(system, VirtualWeek(seed: seed))
            try await run.run()
            try await run.expectEqualDevices()
            run.expectFewRequests()
        }
    }
}

/// Performs the events of a week.
private struct WeekRun {
    private let system: VirtualSystem
    private let week: VirtualWeek
    private let devices: [VirtualDevice]
    private var runs: [VirtualTask<Void>]
    private var random: SimulationRandom
    /// The rows that were inserted and not deleted.
    private var ids: [String] = []
    private var lastEdit = 0

    init(_ system: VirtualSystem, _ week: VirtualWeek) throws {
        (self.system, self.week) = (system, week)
        random = SimulationRandom(9)
        var settings = SyncSettings()
        settings.resolveByField(Todo.self, TodoList.self, onClash: .clientWins)
        devices = try (0..<VirtualWeek.deviceCount).map { number in
            try system.device(
                "device \(number)",
                pulls: [Todo.all.pull(every: VirtualWeek.interval), TodoList.all.pull()], settings: settings)
        }
        runs = devices.map { $0.run() }
    }

    mutating func run() async throws {
        for (time, event) in week.events {
            if time > system.time { await system.advance(time - system.time) }
            switch event {
            case .edit(let device): try await edit(devices[device])
            case .begin(let trouble, let device, let duration): try await begin(trouble, device, duration)
            case .end(let trouble, let device): end(trouble, device)
            }
        }
        // The last changes reach the other devices by their intervals.
        await system.advance(VirtualWeek.interval * 3)
    }

    private mutating func edit(_ device: VirtualDevice) async throws {
        lastEdit += 1
        let text = "edit \(lastEdit)"
        guard random.percent(70), !ids.isEmpty else {
            ids.append("row \(lastEdit)")
            return try await device.insert("row \(lastEdit)")
        }
        let index = random.below(ids.count)
        let id = ids[index]
        do {
            if random.percent(10) {
                try await system.perform {
                    try await device.context.table(Todo.self).delete(SyncID(stringLiteral: id))
                }
                ids.remove(at: index)
            } else {
                try await device.update(id, text)
            }
        } catch let error as SyncError where error.code == .itemNotFound {
            // The device has not received the row.
        }
    }

    private mutating func begin(_ trouble: VirtualWeek.Trouble, _ number: Int, _ duration: Duration)
        async throws
    {
        let device = devices[number]
        switch trouble {
        case .reportedOutage:
            device.network.condition = .down
            device.sync.signal(.networkUnavailable)
        case .outage: device.network.condition = .down
        case .lostAnswers: device.network.condition = .answersLost
        case .serverError: device.network.condition = .status(500)
        case .longRetryAfter:
            let seconds = Int(duration / .seconds(1)) + 1
            device.network.condition = .status(503, retryAfter: "\(max(seconds, 61))")
        case .signedOut: device.network.condition = .status(401)
        case .suspension:
            device.sync.signal(.background)
            try await system.perform { _ = await device.sync.finish(within: .seconds(5)) }
            device.network.condition = .suspended
        case .restart: runs[number].cancel()
        }
    }

    private mutating func end(_ trouble: VirtualWeek.Trouble, _ number: Int) {
        let device = devices[number]
        device.network.condition = .up
        switch trouble {
        case .reportedOutage: device.sync.signal(.networkAvailable)
        case .signedOut: device.sync.signal(.signedIn)
        case .suspension: device.sync.signal(.foreground)
        case .restart: runs[number] = device.run()
        case .outage, .lostAnswers, .serverError, .longRetryAfter: break
        }
    }

    func expectEqualDevices() async throws {
        let rows = system.server.rows(of: "TodoItem").values.filter { !$0.isDeleted }
        let expected = Dictionary(uniqueKeysWithValues: rows.map { ($0.id, $0.fields["text"]?.text) })
        #expect(rows.count > 100)
        #expect(Set(ids).subtracting(expected.keys) == [], "inserted rows are lost")
        for device in devices {
            #expect(try await device.pending() == 0)
            let texts = try await device.texts()
            #expect(texts == expected.mapValues { $0 ?? "" })
            #expect(device.sync.state.lastError == nil)
        }
    }

    func expectFewRequests() {
        let requests = devices.flatMap(\.network.requests)
        let pulls = Int(VirtualWeek.duration / VirtualWeek.interval) * devices.count
        // An edit needs a request, and seldom a second one for a conflict; each trouble ends with a round or two; and an
        // outage is probed every 150 seconds on average, after some attempts at its beginning.
        let troubles = week.outageCounts.values.reduce(0, +)
        let probes = Int(week.outageTime / .seconds(150))
        let bound = pulls + 2 * VirtualWeek.editCount + 40 * troubles + 3 * probes
        #expect(requests.count < bound)
        for trouble in VirtualWeek.Trouble.allCases where trouble.isOutage {
            #expect(week.outageCounts[trouble, default: 0] > 0)
        }
        // A sign-out or a wait that the server asks for needs one request to be known, and two if a push and a pull have
        // begun at once.
        let signedOut = requests.count { $0.condition == .status(401) }
        #expect(signedOut <= 2 * week.outageCounts[.signedOut, default: 0])
        let refused = requests.count { request in
            if case .status(503, _) = request.condition { true } else { false }
        }
        #expect(refused <= 2 * week.outageCounts[.longRetryAfter, default: 0])
        for device in devices {
            let failures = device.network.requests.filter { $0.condition != .up }.map(\.time)
            let most =
                failures.map { start in failures.count { (start..<start + 60).contains($0) } }.max() ?? 0
            #expect(most <= 60, "requests within one minute that failed")
        }
    }
}
