// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import SyncModels
import Synchronization

/// The automatic sync of one process, which runs beside the acts.
struct SimulatedAutoSync: Sendable {
    private let sync: AutoSync
    private let task: Task<Void, Never>

    /// How many devices sync automatically, in percent.
    private static let share = 15

    /// Whether the device syncs automatically.
    static func isDrawn(_ seed: UInt64, _ device: SimulatedDevice) -> Bool {
        if SimulationTheme.of(seed: seed) == .automaticSync { return true }
        var random = SimulationRandom(
            seed, device.number, SimulationRandom.Stream.automaticSync.rawValue)
        return random.percent(share)
    }

    /// Begins to sync the tables that the device declares now.
    init(_ context: SyncContext, of device: SimulatedDevice, on scheduler: SimulationScheduler) {
        let plans = device.disk.store.catalog.tables.map { PullPlan(TableQuery($0.name), id: "all") }
        let sync = AutoSync(context, pulls: plans)
        self.sync = sync
        // Its requests belong to no act.
        task = CurrentAct.$number.withValue(0) {
            Task(executorPreference: scheduler) { await sync.run() }
        }
    }

    /// Reports what the act draws, as the app does that observes the system.
    func signal(_ act: Act, of seed: UInt64, _ tables: [SyncTableDefinition]) {
        var random = SimulationRandom(
            seed, act.number, SimulationRandom.Stream.automaticSync.rawValue)
        guard random.percent(25) else { return }
        let signals: [AutoSync.Signal] = [
            .foreground, .background, .networkAvailable, .networkUnavailable, .networkExpensive, .signedIn,
            .serverHint(tables: Set(tables.map(\.name))),
        ]
        sync.signal(random.pick(signals))
    }

    /// Reports that all faults have ended, as an app does that observes the system. Others report only that the user has
    /// signed in: no other signal is needed.
    func signalHealing(observesSystem: Bool) {
        if observesSystem {
            for signal in [AutoSync.Signal.foreground, .networkAvailable, .signedIn] { sync.signal(signal) }
        } else if sync.state.phase == .needsSignIn {
            sync.signal(.signedIn)
        }
    }

    /// Ends the sync.
    func end() { task.cancel() }

    /// Ends the sync, and waits until it has ended.
    func stop() async {
        task.cancel()
        await task.value
    }

    /// Waits until the sync has ended because its context was closed.
    func waitForEnd() async { await task.value }
}

extension SimulatedSystem {
    /// The longest delay of an automatic sync, which a server has asked for, with the time of the rounds after it.
    private static let maxDelay: Int64 = 100_000 * 1_000_000_000
    /// Longer than the exchange of a request that was sent before the faults ended.
    private static let maxExchange: Int64 = 300 * 1_000_000_000
    private static let pushDelay: Int64 = 1_000_000_000

    /// After the faults, automatic syncs send everything that waits for no decision, without a call of the app: what the
    /// faults have left, and what the app changes later, also during a round.
    func checkAutomaticSyncs() async {
        let syncing = devices.filter { $0.processes[0].sync != nil }
        guard !syncing.isEmpty else { return }
        try? await scheduler.sleep(Self.maxExchange)
        var random = SimulationRandom(seed, SimulationRandom.Stream.automaticSync.rawValue)
        for device in syncing {
            device.processes[0].sync?.signalHealing(observesSystem: random.percent(50))
        }
        try? await scheduler.sleep(Self.maxDelay)
        for device in syncing { checkUnsent(of: device, "that the faults have left") }
        for device in syncing { await changeDuringRound(device, random.logUniform(below: 1_000_000_000)) }
        try? await scheduler.sleep(Self.maxDelay)
        for device in syncing {
            await device.processes[0].sync?.stop()
            device.state.withLock { $0.syncsAutomatically = false }
            checkUnsent(of: device, "that was made after the faults")
        }
    }

    /// Waits until the automatic sync of a closed context has ended: it waits for no more than the exchange of a request.
    func waitForEnd(ofSyncIn process: SimulatedProcess, _ device: SimulatedDevice) async {
        guard let sync = process.sync else { return }
        let closedAt = scheduler.nanoseconds
        await sync.waitForEnd()
        if scheduler.nanoseconds - closedAt > Self.maxExchange {
            fail(.liveness, "\(device.name): the automatic sync has not ended when its context was closed.")
        }
    }

    /// Makes a change, and another one after so long, when the push of the first one may be running.
    private func changeDuringRound(_ device: SimulatedDevice, _ delay: Int64) async {
        for number in 0..<2 {
            let id = "\(device.number)-\(number)"
            let act = Act(
                number: 100_000 + device.number * 10 + UInt64(number), feature: .insert,
                device: Int(device.number), table: 0, id: id, delay: .steps(0),
                random: SimulationRandom(seed, device.number, SimulationRandom.Stream.automaticSync.rawValue))
            do { try await edit(act, device, device.processes[0].context) } catch {
                fail(.error, "\(device.name): \(id) cannot be inserted: \(error)")
            }
            if number == 0 { try? await scheduler.sleep(Self.pushDelay + delay) }
        }
    }

    private func checkUnsent(of device: SimulatedDevice, _ origin: String) {
        do {
            let (operations, errors) = try device.disk.store.read {
                (try $0.operations(after: 0, in: nil, limit: .max), try $0.operationErrors(in: nil))
            }
            // Operations that the server has refused before are sent again, until they are parked. The app may not have queued that
            // it has deleted an item in its database.
            let left = errors.filter { $0.isConflict || [.operationHeld, .expectedItem].contains($0.code) }
            let parked = operations.filter { $0.state == .parked }
            let waiting = Set(
                left.map { RowKey(table: $0.table, id: $0.itemID) }
                    + parked.map { RowKey(table: $0.table, id: $0.itemID) })
            let unsent = operations.first { !waiting.contains(RowKey(table: $0.table, id: $0.itemID)) }
            guard let unsent else { return }
            fail(
                .liveness,
                "\(device.name): the automatic sync has not sent the \(unsent.kind) of \(unsent.itemID) \(origin)."
            )
        } catch {
            fail(.store, "\(device.name): the operations cannot be read: \(error)")
        }
    }
}
