// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreMemory
import SyncCore
import Synchronization

/// What a simulation found wrong.
public struct SimulationFailure: Error, Sendable, CustomStringConvertible {
    public let invariant: String
    public let detail: String
    public var description: String { "\(invariant): \(detail)" }
}

/// One simulated system: clients, a model server, a network with faults, and a virtual clock.
public final class Simulation: Sendable {
    let seed: UInt64
    let scheduler: SimulationScheduler
    let server: ModelServer
    let clients: [SimulatedClient]
    let failure = Mutex<SimulationFailure?>(nil)
    let trace = Mutex<[String]>([])
    let isTraced: Bool
    private let counter = Mutex(0)
    private let isFinished = Mutex(false)

    public init(seed: UInt64, isTraced: Bool = false) throws {
        self.seed = seed
        self.isTraced = isTraced
        var random = SimulationRandom(seed, 2)
        scheduler = SimulationScheduler(
            seed: seed, policy: random.pick([.uniform, .firstInFirstOut, .firstInFirstOut, .lastInFirstOut]))
        var traits = ModelServerTraits()
        traits.softDelete = random.percent(60)
        traits.pageCap = random.pick([1, 2, 3, 50])
        traits.keptDigits = random.percent(50) ? 3 : 7
        traits.shownDigits = traits.keptDigits == 7 && random.percent(60) ? 7 : 3
        traits.restartsVersions = false && random.percent(50)
        traits.conflictShowsRow = random.percent(50)
        traits.filtersAfterPaging = random.percent(15)
        traits.hasHook = random.percent(30)
        let clock = scheduler
        server = ModelServer(traits: traits) { clock.nanoseconds }
        let hasFaults = random.percent(70)
        var network = NetworkTraits()
        if hasFaults {
            func rate() -> Int { random.percent(50) ? random.pick([3, 10, 25]) : 0 }
            network.lostRequest = rate(); network.lostResponse = rate(); network.duplicated = rate()
            network.statusBefore = rate(); network.statusAfter = rate(); network.truncated = rate()
        }
        network.maxLatency = random.pick([1_000_000, 64_000_000, 512_000_000, 4_000_000_000])
        var made: [SimulatedClient] = []
        let recorder = Recorder()
        for index in 0..<(2 + random.below(2)) {
            let base = try MemoryStore(tables: [SimulatedClient.table])
            let resolver = random.below(7)
            let settings = Mutex(SyncSettings())
            settings.withLock {
                $0.maxConcurrentOperations = 1 + Int((seed >> 8) % 3)
                $0.sendsChangedFieldsOnly = seed % 5 != 0
                $0.parkAfterRefusals = 3
            }
            let (scheduler, server, network) = (scheduler, server, network)
            let name = "c\(index)"
            made.append(
                SimulatedClient(name: name, base: base) { previous in
                    Self.makeProcess(
                        name, base, scheduler, server, network, seed, resolver, settings.withLock { $0 }, recorder,
                        previous)
                })
        }
        clients = made
        recorder.bind(self)
    }

    /// The way from parts that are made first to the simulation.
    final class Recorder: Sendable {
        private let target = Mutex<[Simulation]>([])
        func bind(_ simulation: Simulation) { target.withLock { $0 = [simulation] } }
        var simulation: Simulation? { target.withLock { $0.first } }
        func unbind() { target.withLock { $0 = [] } }
    }

    private static func makeProcess(
        _ name: String, _ base: MemoryStore, _ scheduler: SimulationScheduler, _ server: ModelServer,
        _ network: NetworkTraits, _ seed: UInt64, _ resolver: Int, _ settings: SyncSettings, _ recorder: Recorder,
        _ previous: SimulatedClient?
    ) -> SimulatedClient.State {
        let transport = SimulatedTransport(
            server: server, scheduler: scheduler, client: name, seed: seed, traits: network,
            log: { recorder.simulation?.log($0) })
        let store = SimulatedStore(base) { snapshot in recorder.simulation?.checkCommit(snapshot, of: name) }
        let random = Mutex(SimulationRandom(seed, UInt64(name.hashValueStable), 9))
        var settings = settings
        settings.resolver = Self.resolver(resolver, of: name, recorder)
        let environment = SyncEnvironment(
            now: { scheduler.now },
            sleep: { try await scheduler.sleep(Int64($0 / .nanoseconds(1))) },
            random: { random.withLock { $0.next() } }, executor: SimulatedStoreExecutor(scheduler))
        let client = SyncClient(
            url: URL(string: "https://server.example")!, transport: transport, installationID: name)
        return SimulatedClient.State(
            context: SyncContext(client: client, dataSource: store, settings: settings, environment: environment),
            store: store, transport: transport)
    }

    private static func resolver(_ kind: Int, of name: String, _ recorder: Recorder) -> ConflictResolver? {
        let rule: ConflictResolver? =
            switch kind {
            case 0: .serverWins
            case 1: .clientWins
            case 2: .lastWriterWins
            case 3: .fieldMerge(onClash: .serverWins)
            case 4: .keepPending
            default: nil
            }
        guard let rule else { return nil }
        return ConflictResolver { conflict in
            guard let simulation = recorder.simulation, let client = simulation.client(name) else { return .keepPending }
            let number = client.lastEdit
            let id = conflict.operation.itemID
            let decision = try await rule.resolve(conflict)
            simulation.log("\(name) resolver \(id): \(decision)")
            client.noteDecision(id, serverItem: conflict.serverItem)
            if decision != .keepPending, decision != .keepClient { client.overrule(id, upTo: number) }
            return decision
        }
    }

    func client(_ name: String) -> SimulatedClient? { clients.first { $0.name == name } }

    func log(_ text: @autoclosure () -> String) {
        guard isTraced else { return }
        let line = "\(scheduler.nanoseconds / 1000) µs \(text())"
        trace.withLock { $0.append(line) }
    }

    func fail(_ invariant: String, _ detail: String) {
        log("FAIL \(invariant): \(detail)")
        failure.withLock { $0 = $0 ?? SimulationFailure(invariant: invariant, detail: detail) }
    }

    func nextNumber() -> Int {
        counter.withLock { counter in
            counter += 1
            return counter
        }
    }

    // MARK: Running

    func run(_ acts: [Act]) -> SimulationFailure? {
        Task(executorPreference: scheduler) {
            await self.perform(acts)
            if self.failure.withLock({ $0 == nil }) { await self.heal() }
            self.isFinished.withLock { $0 = true }
        }
        let ended = scheduler.run(until: { isFinished.withLock { $0 } }, limit: 400_000)
        if !ended { fail("stuck", "The simulation did not end: some call never returned.") }
        return failure.withLock { $0 }
    }

    private func perform(_ acts: [Act]) async {
        await withTaskGroup(of: Void.self) { group in
            for act in acts {
                if failure.withLock({ $0 != nil }) { break }
                try? await scheduler.sleep(act.delay)
                group.addTask {
                    await KeyedDraws.$act.withValue(act.number) { await self.perform(act) }
                }
            }
        }
    }

    private func perform(_ act: Act) async {
        let client = clients[act.client % clients.count]
        log("BEGIN \(act)")
        do {
            try await carryOut(act, by: client)
            log("END #\(act.number)")
        } catch {
            log("END #\(act.number) with \(error)")
            check(error, act)
        }
    }

    private func check(_ error: any Error, _ act: Act) {
        if error is CancellationError || error is TableOperationError { return }
        guard let error = error as? SyncError else { return fail("error", "\(act): \(type(of: error)) \(error)") }
        if error.code == .internalError { fail("error", "\(act): \(error)") }
    }
}

extension String {
    /// A hash that is the same in every process.
    var hashValueStable: Int { utf8.reduce(5381) { ($0 &* 33) ^ Int($1) } & 0xFFFF_FFFF }
}
