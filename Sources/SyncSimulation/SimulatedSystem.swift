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
    let network: NetworkTraits
    /// How far pulls read again before their tokens.
    let overlap: Duration
    /// The settings of pulls that draw nothing else.
    var pullSettings: PullSettings {
        var settings = PullSettings()
        settings.overlap = overlap
        return settings
    }

    private let link = SystemLink()
    private let made = Mutex<[SimulatedDevice]>([])
    private let state: Mutex<State>
    /// The setting of all processes.
    static let parkAfterRefusals = 3
    /// The number of refusals after which the app's settings park an operation.
    let parkAfterRefusals: Int

    private struct State {
        var failure: SimulationFailure?
        var trace: [String] = []
        var coverage = SimulationCoverage()
        var begun = 0
        var running: [UInt64: Act] = [:]
        /// The sleeps that end with the next response to each device.
        var responseWaits: [UInt64: [Task<Void, Never>]] = [:]
        var isHealed = false
        var isFinished = false
    }

    init(seed: UInt64, app: SimulatedApp, isTraced: Bool) throws {
        (self.seed, self.app, self.isTraced) = (seed, app, isTraced)
        mode = SimulationMode.of(seed: seed)
        let scheduler = SimulationScheduler(seed: seed, mode: mode)
        self.scheduler = scheduler
        var random = SimulationRandom(seed, SimulationRandom.Stream.system.rawValue)
        var settings = SyncSettings()
        settings.parkAfterRefusals = Self.parkAfterRefusals
        app.configure(&settings)
        parkAfterRefusals = settings.parkAfterRefusals
        var traits = ModelServerTraits.draw(&random)
        traits.dialect = .of(seed: seed)
        var columns = SimulationRandom(seed, SimulationRandom.Stream.serverColumns.rawValue)
        traits.hasUndeclaredColumn = columns.percent(30)
        // Other writers have made them.
        if mode == .solo { traits.hasUndatedRows = false }
        let theme = SimulationTheme.of(seed: seed)
        theme?.shape(&traits, &random)
        if app.computedColumn == nil { traits.hasHook = false }
        app.configureServer(&traits)
        overlap = traits.hasUnsteadyClock ? .seconds(10) : random.percent(10) ? .seconds(1) : .zero
        server = ModelServer(app: app, traits: traits) { scheduler.nanosecondsSince1970 }
        state = Mutex(State())
        var network = NetworkTraits.draw(&random, mode)
        theme?.shape(&network, &random)
        self.network = network
        let factory = ProcessFactory(
            seed: seed, app: app, mode: mode, scheduler: scheduler, server: server,
            network: network, link: link)
        if traits.hasUndatedRows { importRows(count: 1 + random.below(4)) }
        var devices: [SimulatedDevice] = []
        let counts = theme?.deviceCounts ?? [1, 2, 2, 2, 2, 2, 3, 3, 3, 3]
        for number in 0..<(mode == .solo ? 1 : random.pick(counts)) {
            let open = try app.storage.makeDevice()
            let disk = try SimulatedDisk(
                isShared: theme == .sharedStore || random.percent(18), tables: app.tables, open: open)
            devices.append(
                SimulatedDevice(number: number, disk: disk) { factory.start($1, of: $0) })
        }
        made.withLock { $0 = devices }
        link.system = self
    }

    var devices: [SimulatedDevice] { made.withLock { $0 } }

    /// Adds rows without `updatedAt`, as imports of data into a server's database do.
    private func importRows(count: Int) {
        let table = app.tables[0]
        for index in 0..<count {
            let fields = app.editedColumns(of: table).map { column in
                (column.name, EditValue.model(Self.otherUsersNumber(2000 + index), column.type))
            }
            server.importRow(
                index == 0 ? "x0" : "i\(index)", Dictionary(uniqueKeysWithValues: fields), in: table.name)
        }
    }

    /// Returns a number that no device makes.
    static func otherUsersNumber(_ index: Int) -> Int64 { Int64(index) * History.deviceCount }

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

    func count(_ event: SimulationCoverage.Event) { state.withLock { $0.coverage.count(event) } }

    /// Records a response that a device has received.
    func record(
        _ response: HTTPTransportResponse, to request: ModelRequest, from device: SimulatedDevice
    ) {
        count(.status(response.head.status.code / 100, request.phase))
        for wait in state.withLock({ $0.responseWaits.removeValue(forKey: device.number) }) ?? [] {
            wait.cancel()
        }
        let act = CurrentAct.number
        let partial = server.traits.hasUnreadableRows ? unreadableRow(in: response, to: request) : nil
        device.state.withLock { state in
            state.refusals.record(response, to: request, act: act)
            if let partial { state.partial.insert(partial) }
        }
    }

    /// Returns the row of a request of one row, if the response has a value that its column cannot hold.
    private func unreadableRow(
        in response: HTTPTransportResponse, to request: ModelRequest
    ) -> RowKey? {
        let fields: [String: ModelJSON]
        let table: String
        switch ModelJSON(data: response.body) {
        case .object(let row)? where request.row != nil:
            (fields, table) = (row, request.row?.table ?? "")
        case let list? where request.parameters["$filter"]?.hasPrefix("id eq") == true:
            // A tombstone is read by a list of one row.
            guard case .object(let row)? = ModelDialect.rows(in: list)?.first else { return nil }
            (fields, table) = (row, request.path.last ?? "")
        default: return nil
        }
        guard case .text(let id)? = fields["id"],
            app.tables.first(where: { $0.name == table })?.columns.contains(where: {
                EditValue.isUnreadable(fields[$0.name], $0.type)
            }) == true
        else { return nil }
        return RowKey(table: table, id: id)
    }

    /// Whether the server's row has a value that its column cannot hold.
    func isUnreadable(_ row: ModelServer.Row, _ table: SyncTableDefinition) -> Bool {
        table.columns.contains { EditValue.isUnreadable(row.fields[$0.name], $0.type) }
    }

    // MARK: Running

    /// The greatest number of jobs of a system; more mean that it does not end. A server may ask for a wait of a day, in which
    /// the observers of a shared store look for commits of other processes a million times.
    private static let maxSteps = 4_000_000

    /// Runs the script, ends all faults, and checks the end.
    func run(_ script: [Act]) -> SimulationFailure? {
        count(.mode(mode))
        count(.dialect(server.traits.dialect))
        if let theme = SimulationTheme.of(seed: seed) { count(.theme(theme)) }
        Task(executorPreference: scheduler) {
            await self.perform(script)
            if self.failure == nil { await self.heal() }
            await self.end()
            self.state.withLock { $0.isFinished = true }
        }
        let hasEnded = scheduler.run(until: { state.withLock { $0.isFinished } }, maxSteps: Self.maxSteps)
        if !hasEnded { fail(.liveness, "A call did not return.") }
        link.system = nil
        for device in devices { device.endProcesses() }
        if hasEnded, !scheduler.runToEnd(maxSteps: Self.maxSteps) {
            fail(.liveness, "Something still runs after every context was closed.")
        }
        return failure
    }

    private func perform(_ script: [Act]) async {
        await withTaskGroup(of: Void.self) { group in
            for act in script {
                if failure != nil { break }
                await wait(act.delay, on: devices[act.device % devices.count])
                begin(act)
                group.addTask { await CurrentAct.$number.withValue(act.number) { await self.perform(act) } }
            }
        }
    }

    private func wait(_ delay: Act.Delay, on device: SimulatedDevice) async {
        switch delay {
        case .nanoseconds(let count): try? await scheduler.sleep(count)
        case .steps(let count): await wait(steps: count)
        case .response(let steps):
            await waitForResponse(to: device)
            await wait(steps: steps)
        }
    }

    func wait(steps: Int) async { for _ in 0..<steps { await Task.yield() } }

    /// The greatest virtual time for which an act waits for a response.
    private static let maxResponseWait: Int64 = 8_000_000_000

    /// Waits until the device receives a response; returns at once if it sends no requests.
    private func waitForResponse(to device: SimulatedDevice) async {
        let isSending = state.withLock { state in
            state.running.values.contains { act in
                act.feature.sendsRequests && devices[act.device % devices.count] === device
            }
        }
        guard isSending else { return }
        let sleep = Task(executorPreference: scheduler) { [scheduler] in
            do { try await scheduler.sleep(Self.maxResponseWait) } catch {}
        }
        state.withLock { $0.responseWaits[device.number, default: []].append(sleep) }
        await sleep.value
    }

    /// Counts the acts that are suspended now.
    private func begin(_ act: Act) {
        log("BEGIN \(act)")
        state.withLock { state in
            state.begun += 1
            for other in state.running.values { state.coverage.count(act.feature, during: other.feature) }
            if act.feature.isSuspended { state.running[act.number] = act }
        }
    }

    private func perform(_ act: Act) async {
        let device = devices[act.device % devices.count]
        stepClock(of: device, act)
        let process = device.process(for: Int(act.number))
        process.sync?.signal(act, of: seed, device.disk.store.catalog.tables)
        do {
            if act.feature.sendsRequests {
                try await checkingResolver(device, process) {
                    try await carryOut(act, on: device, process)
                }
            } else {
                try await carryOut(act, on: device, process)
            }
            log("END \(act.number)")
        } catch {
            log("END \(act.number) with \(error)")
            check(error, of: act, process)
        }
        state.withLock { $0.running[act.number] = nil }
    }

    private func check(_ error: any Error, of act: Act, _ process: SimulatedProcess) {
        if process.store.hasEnded { return }
        guard let error = error as? SyncError else {
            return fail(.error, "\(act): \(type(of: error)) \(error)")
        }
        // All acts but decisions use declared tables only.
        let isUndocumented =
            error.code == .internalError || error.code == .unknownTable && !act.feature.isDecision
        if isUndocumented { fail(.error, "\(act): \(error)") }
    }

    /// Ends all faults, and waits until everything is synchronized.
    private func heal() async {
        log("HEAL")
        state.withLock { $0.isHealed = true }
        server.setClock(offset: 0)
        server.change { $0.pageCap = 50 }
        server.acceptAll()
        if seed % 2 == 0 { repairRows() }
        for device in devices {
            if device.disk.store.catalog.tables != app.tables { changeTables(of: device, to: app.tables) }
            device.restartCrashed()
            for process in device.processes {
                process.transport.heal()
                process.store.heal()
            }
        }
        for device in devices {
            checkStore(of: device)
            checkVisibleEdits(of: device)
        }
        await checkAutomaticSyncs()
        if failure == nil { await synchronizeAll() }
        if failure == nil { await checkEnd() }
    }

    /// Replaces values that their columns cannot hold.
    private func repairRows() {
        for table in app.tables {
            for (index, row) in server.rows(of: table.name).values.sorted(by: { $0.id < $1.id }).enumerated()
            where !row.isDeleted && isUnreadable(row, table) {
                let number = Self.otherUsersNumber(3000 + index)
                let fields = app.editedColumns(of: table).filter {
                    EditValue.isUnreadable(row.fields[$0.name], $0.type)
                }.map { ($0.name, EditValue.model(number, $0.type)) }
                server.write(row.id, Dictionary(uniqueKeysWithValues: fields), in: table.name, isLate: false)
            }
        }
    }

    /// Ends observers and processes, so that nothing of the system remains.
    private func end() async {
        for device in devices {
            for observer in device.state.withLock({ $0.observers }) { await observer.end() }
            for process in device.processes {
                try? await process.context.close()
                await process.sync?.waitForEnd()
            }
            try? device.disk.store.close()
        }
    }
}
