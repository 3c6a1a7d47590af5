// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import SyncCore
import Synchronization

/// One simulated system: devices with the real engine, a model server, networks with faults, and a virtual clock, all on
/// one thread.
final class SimulatedSystem: Sendable {
    let seed: UInt64
    let app: SimulatedApp
    let scheduler: SimulationScheduler
    let server: ModelServer
    let mode: SimulationMode
    let isTraced: Bool
    /// How far pulls read again before their tokens.
    let overlap: Duration
    /// The settings of pulls that draw nothing else.
    var pullSettings: PullSettings {
        var settings = PullSettings()
        settings.overlap = overlap
        return settings
    }

    private let link = Link()
    private let made = Mutex<[SimulatedDevice]>([])
    private let state: Mutex<State>

    private struct State {
        var failure: SimulationFailure?
        var trace: [String] = []
        var coverage = SimulationCoverage()
        var begun = 0
        var running: [UInt64: Act.Feature] = [:]
        var isHealed = false
        var isFinished = false
    }

    /// The callbacks' way to the system, which ends with it.
    private final class Link: Sendable {
        private let target = Mutex<[SimulatedSystem]>([])
        var system: SimulatedSystem? {
            get { target.withLock { $0.first } }
            set { target.withLock { $0 = newValue.map { [$0] } ?? [] } }
        }
    }

    init(seed: UInt64, app: SimulatedApp, isTraced: Bool) throws {
        (self.seed, self.app, self.isTraced) = (seed, app, isTraced)
        mode = SimulationMode.of(seed: seed)
        let scheduler = SimulationScheduler(seed: seed, mode: mode)
        self.scheduler = scheduler
        var random = SimulationRandom(seed, SimulationRandom.Stream.system.rawValue)
        var traits = ModelServerTraits.draw(&random)
        app.configureServer(&traits)
        overlap = traits.hasUnsteadyClock ? .seconds(10) : random.percent(10) ? .seconds(1) : .zero
        let columns = app.tables.map { ($0.name, $0.columns.filter { !$0.isLocalOnly }.map(\.name)) }
        server = ModelServer(columns: Dictionary(uniqueKeysWithValues: columns), traits: traits) {
            scheduler.nanosecondsSince1970
        }
        state = Mutex(State())
        let network = NetworkTraits.draw(&random)
        let (link, server) = (link, server)
        var devices: [SimulatedDevice] = []
        for number in 0..<random.pick([1, 2, 2, 2, 2, 2, 3, 3, 3, 3]) {
            let open = try app.storage.makeDevice()
            let disk = try SimulatedDisk(isShared: random.percent(12), tables: app.tables, open: open)
            devices.append(
                SimulatedDevice(number: number, disk: disk) { device, process in
                    Self.start(process, of: device, seed, app, scheduler, server, network, link)
                })
        }
        made.withLock { $0 = devices }
        link.system = self
    }

    var devices: [SimulatedDevice] { made.withLock { $0 } }

    // MARK: Processes

    private static func start(
        _ number: Int, of device: SimulatedDevice, _ seed: UInt64, _ app: SimulatedApp,
        _ scheduler: SimulationScheduler, _ server: ModelServer, _ network: NetworkTraits, _ link: Link
    ) -> SimulatedProcess {
        let name = device.name
        let isHealed = link.system?.isHealed ?? false
        let transport = SimulatedTransport(
            server: server, scheduler: scheduler, author: name, seed: seed,
            traits: isHealed ? NetworkTraits() : network,
            events: SimulatedTransport.Events(
                log: { link.system?.log($0()) },
                didFail: { fault, request in link.system?.count("fault \(fault) during \(request.phase)") },
                didRespond: { status, request in
                    link.system?.count("status \(status / 100)xx to \(request.phase)")
                },
                knownStates: { request in
                    guard server.traits.restartsVersions, let key = request.row else { return [] }
                    return device.state.withLock { $0.known[key] ?? [] }
                }))
        let store = SimulatedStore(
            device.disk, process: number,
            events: SimulatedStore.Events(
                willWrite: { device.history.transactionBegins() },
                didCommit: { link.system?.checkCommit($0, of: device) },
                didFail: { kind in
                    link.system?.count("store \(kind)")
                    link.system?.log("\(name) process \(number): store \(kind)")
                    guard kind != .failure else { return }
                    transport.end()
                    scheduler.enqueue { device.restartCrashed() }
                }))
        var draws = SimulationRandom(seed, device.number, SimulationRandom.Stream.device.rawValue)
        var settings = SyncSettings()
        settings.maxConcurrentOperations = draws.pick([1, 1, 2, 3])
        settings.sendsChangedFieldsOnly = draws.percent(80)
        settings.parkAfterRefusals = 3
        if draws.percent(15) { settings.retry.maxAttempts = 1 }
        settings.resolver = DrawnResolver.make(
            seed, device: device, app: app, log: { link.system?.log($0) },
            fail: { link.system?.fail(.lostEdit, "\(device.name): \($0)") })
        let delegate: DrawnDelegate? =
            draws.percent(20) && app.resolver == nil
            ? DrawnDelegate(seed, device: device, isHealed: { link.system?.isHealed ?? true }) { text in
                link.system?.log(text)
            } : nil
        app.configure(&settings)
        let random = Mutex(SimulationRandom(seed, device.number, UInt64(number), 50))
        let environment = SyncEnvironment(
            now: { scheduler.now },
            sleep: { try await scheduler.sleep(Int64($0 / .nanoseconds(1))) },
            random: { random.withLock { $0.next() } }, executor: SimulatedStoreExecutor(scheduler))
        var refresh: (@Sendable () async throws -> String?)?
        if draws.percent(50) { refresh = { "token \(random.withLock { $0.next() })" } }
        let client = SyncClient(
            url: URL(string: "https://server.example") ?? URL(fileURLWithPath: "/"), transport: transport,
            installationID: name,
            refreshAuthentication: refresh)
        let context = SyncContext(
            client: client, dataSource: store, delegate: delegate, settings: settings,
            environment: environment)
        return SimulatedProcess(context: context, store: store, transport: transport)
    }

    // MARK: Records

    var failure: SimulationFailure? { state.withLock { $0.failure } }
    var trace: [String] { state.withLock { $0.trace } }
    var coverage: SimulationCoverage { state.withLock { $0.coverage } }
    var isHealed: Bool { state.withLock { $0.isHealed } }

    func log(_ text: @autoclosure () -> String) {
        guard isTraced else { return }
        let line = "\(scheduler.nanoseconds / 1000) µs \(text())"
        state.withLock { $0.trace.append(line) }
    }

    func fail(_ invariant: SimulationFailure.Invariant, _ detail: String) {
        log("FAILED \(invariant): \(detail)")
        state.withLock { state in
            state.failure =
                state.failure ?? SimulationFailure(invariant: invariant, detail: detail, step: state.begun)
        }
    }

    func count(_ name: String) { state.withLock { $0.coverage.count(name) } }

    // MARK: Running

    /// The greatest number of jobs of a system; more mean that it does not end.
    private static let maxSteps = 400_000

    /// Runs the script, ends all faults, and checks the end.
    func run(_ script: [Act]) -> SimulationFailure? {
        count("mode \(mode)")
        Task(executorPreference: scheduler) {
            await self.perform(script)
            if self.failure == nil { await self.heal() }
            await self.end()
            self.state.withLock { $0.isFinished = true }
        }
        let hasEnded = scheduler.run(until: { state.withLock { $0.isFinished } }, maxSteps: Self.maxSteps)
        if !hasEnded { fail(.liveness, "A call did not return.") }
        link.system = nil
        return failure
    }

    private func perform(_ script: [Act]) async {
        await withTaskGroup(of: Void.self) { group in
            for act in script {
                if failure != nil { break }
                try? await scheduler.sleep(act.delay)
                begin(act)
                group.addTask { await CurrentAct.$number.withValue(act.number) { await self.perform(act) } }
            }
        }
    }

    /// Counts the acts that are suspended now.
    private func begin(_ act: Act) {
        log("BEGIN \(act)")
        state.withLock { state in
            state.begun += 1
            for feature in state.running.values { state.coverage.count(act.feature, during: feature) }
            if act.feature.isSuspended { state.running[act.number] = act.feature }
        }
    }

    private func perform(_ act: Act) async {
        let device = devices[act.device % devices.count]
        let process = device.process(for: Int(act.number))
        do {
            try await carryOut(act, on: device, process)
            log("END \(act.number)")
        } catch {
            log("END \(act.number) with \(error)")
            check(error, of: act, process)
        }
        state.withLock { $0.running[act.number] = nil }
    }

    private func check(_ error: any Error, of act: Act, _ process: SimulatedProcess) {
        if process.store.hasEnded || error is CancellationError { return }
        guard let error = error as? SyncError else {
            return fail(.error, "\(act): \(type(of: error)) \(error)")
        }
        if error.code == .internalError { fail(.error, "\(act): \(error)") }
    }

    /// Ends all faults, and waits until everything is synchronized.
    private func heal() async {
        log("HEAL")
        state.withLock { $0.isHealed = true }
        server.setClock(offset: 0)
        server.change { $0.pageCap = 50 }
        server.acceptAll()
        for device in devices {
            if device.disk.store.catalog.tables != app.tables { changeTables(of: device, to: app.tables) }
            device.restartCrashed()
            for process in device.processes {
                process.transport.heal()
                process.store.heal()
            }
        }
        await synchronizeAll()
        if failure == nil { await checkEnd() }
    }

    /// Ends observers and processes, so that nothing of the system remains.
    private func end() async {
        for device in devices {
            for observer in device.state.withLock({ $0.observers }) { await observer.end() }
            for process in device.processes { try? await process.context.close() }
            try? device.disk.store.close()
        }
    }
}

extension HTTPTransportRequest {
    /// The row in the request's path.
    fileprivate var row: RowKey? {
        let names = head.path.map { $0.prefix { $0 != "?" }.split(separator: "/") } ?? []
        return names.count > 2 ? RowKey(table: String(names[1]), id: String(names[2])) : nil
    }

    /// What the request asks for.
    var phase: RequestPhase {
        let isRow = head.path.map { $0.prefix { $0 != "?" }.split(separator: "/").count > 2 } ?? false
        return switch head.method {
        case .post: isRow ? .undelete : .insert
        case .patch: .update
        case .delete: .delete
        default: isRow ? .read : .list
        }
    }
}
