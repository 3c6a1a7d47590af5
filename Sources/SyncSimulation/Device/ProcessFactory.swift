// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import Synchronization

/// The callbacks' reference to the system, which ends with it.
final class SystemLink: Sendable {
    private let target = Mutex<[SimulatedSystem]>([])

    var system: SimulatedSystem? {
        get { target.withLock { $0.first } }
        set { target.withLock { $0 = newValue.map { [$0] } ?? [] } }
    }
}

/// Starts the processes of a system's devices.
struct ProcessFactory: Sendable {
    let seed: UInt64
    let app: SimulatedApp
    let mode: SimulationMode
    let scheduler: SimulationScheduler
    let server: ModelServer
    let network: NetworkTraits
    let link: SystemLink

    /// Starts a process with the device's settings, which do not change over its restarts.
    func start(_ number: Int, of device: SimulatedDevice) -> SimulatedProcess {
        var draws = SimulationRandom(seed, device.number, SimulationRandom.Stream.device.rawValue)
        let settings = settings(&draws, device)
        let theme = SimulationTheme.of(seed: seed)
        let hasDelegate =
            draws.percent(theme == .delegate ? 100 : 25) && app.resolver == nil && mode != .solo
            && theme != .counters
        let delegate = hasDelegate ? DrawnDelegate(seed, device: device, link: link) : nil
        let isSequential = settings.maxConcurrentOperations == 1 && !hasDelegate
        let check = RequestCheck(isSequential: isSequential, hasDelegate: hasDelegate)
        let transport = transport(to: device, check)
        let store = SimulatedStore(
            device.disk, process: number, events: storeEvents(of: device, number, transport))
        let random = Mutex(SimulationRandom(seed, device.number, UInt64(number), 50))
        let environment = SyncEnvironment(
            now: { [scheduler] in scheduler.now(ahead: device.state.withLock { $0.clockOffset }) },
            sleep: { [scheduler] in try await scheduler.sleep(Int64($0 / .nanoseconds(1))) },
            random: { random.withLock { $0.next() } }, executor: SimulatedStoreExecutor(scheduler),
            uptime: { [scheduler] in .nanoseconds(scheduler.nanoseconds) })
        let refresh = draws.percent(50) ? refresh(of: device, number) : nil
        let address = device.state.withLock { $0.serverAddress }
        let client = Authentication.$executor.withValue(scheduler) {
            SyncClient(
                url: URL(string: address) ?? URL(fileURLWithPath: "/"), transport: transport,
                dialect: server.traits.dialect.wire, installationID: device.name,
                refreshAuthentication: refresh)
        }
        let context = SyncContext(
            client: client, dataSource: store, delegate: delegate, settings: settings,
            environment: environment)
        // A sync that ends in the background leaves it open whether the server has applied its last request.
        let sync = hasDelegate || theme == .counters ? nil : automaticSync(of: device, context)
        return SimulatedProcess(context: context, store: store, transport: transport, sync: sync)
    }

    private struct NoToken: Error {}

    /// Returns the refresh of the app's token, which takes a while, and fails at times.
    private func refresh(of device: SimulatedDevice, _ number: Int) -> @Sendable () async throws -> String? {
        let random = Mutex(
            SimulationRandom(
                seed, device.number, UInt64(number), SimulationRandom.Stream.refresh.rawValue))
        return { [scheduler] in
            let (outcome, token, delay) = random.withLock { random in
                (random.below(100), random.next(), random.logUniform(below: 4_000_000_000))
            }
            try await scheduler.sleep(delay)
            return switch outcome {
            case ..<15: nil
            case ..<30: throw NoToken()
            default: "token \(token)"
            }
        }
    }

    private func automaticSync(of device: SimulatedDevice, _ context: SyncContext) -> SimulatedAutoSync? {
        guard !device.disk.isShared, SimulatedAutoSync.isDrawn(seed, device),
            device.state.withLock({ $0.syncsAutomatically })
        else { return nil }
        return SimulatedAutoSync(context, of: device, on: scheduler)
    }

    private func settings(_ draws: inout SimulationRandom, _ device: SimulatedDevice) -> SyncSettings {
        var settings = SyncSettings()
        settings.maxConcurrentOperations = draws.pick([1, 1, 2, 3])
        settings.sendsChangedFieldsOnly = draws.percent(80)
        settings.parkAfterRefusals = SimulatedSystem.parkAfterRefusals
        if draws.percent(25) { settings.retry.maxAttempts = 1 }
        settings.resolver = DrawnResolver.make(
            seed, device: device, app: app, log: { [link] in link.system?.log($0) },
            fail: { [link] invariant, detail in link.system?.fail(invariant, "\(device.name): \(detail)") },
            expectsConflict: { [mode, server] in
                server.hasTombstone(of: $0) || device.canHaveConflict(of: $0, mode, server)
            })
        app.configure(&settings)
        return settings
    }

    private func transport(to device: SimulatedDevice, _ check: RequestCheck) -> SimulatedTransport {
        let (link, server, app, name) = (link, server, app, device.name)
        let isHealed = link.system?.isHealed ?? false
        return SimulatedTransport(
            server: server, scheduler: scheduler, author: name, seed: seed,
            traits: isHealed ? NetworkTraits() : network,
            check: check,
            events: SimulatedTransport.Events(
                log: { link.system?.log($0()) },
                didFail: { fault, request in
                    link.system?.count(.fault(fault, request.phase))
                    // A reconciliation requests ids only, and each row that it misses again, so an old page does no harm.
                    if fault.returnsOldPages, !request.selectsColumns {
                        let act = CurrentAct.number
                        device.state.withLock { state in
                            state.hasReceivedOldPage = true
                            state.refusals.recordOldPage(act: act)
                        }
                    }
                    if fault == .overtaken, let name = request.row?.table,
                        let table = app.tables.first(where: { $0.name == name })
                    {
                        link.system?.writeLaterRow(in: table)
                    }
                },
                didRespond: { response, request in link.system?.record(response, to: request, from: device) },
                willSend: {
                    link.system?.checkColumns(of: $0, from: device)
                    link.system?.checkMissingRow(of: $0, from: device)
                },
                arrivesLate: { request in
                    guard request.phase == .insert, let row = request.row else { return }
                    device.state.withLock { _ = $0.rowsInsertedLate.insert(row) }
                },
                copyArrives: { request in
                    guard request.phase == .insert, let row = request.row else { return }
                    device.state.withLock { state in
                        if state.pending[row] == nil { state.rowsInsertedLate.insert(row) }
                    }
                },
                didBreak: { link.system?.fail(.retry, "\(name): \($0)") },
                knownStates: { request in
                    guard server.traits.restartsVersions, let key = request.row else { return [] }
                    return device.state.withLock { $0.known[key]?.states ?? [] }
                }))
    }

    private func storeEvents(
        of device: SimulatedDevice, _ number: Int, _ transport: SimulatedTransport
    ) -> SimulatedStore.Events {
        let (link, scheduler) = (link, scheduler)
        return SimulatedStore.Events(
            willWrite: { device.history.transactionBegins() },
            didCommit: { link.system?.checkCommit($0, $1, of: device) },
            didFail: { kind in
                link.system?.count(.store(kind))
                link.system?.log("\(device.name) process \(number): store \(kind)")
                guard kind.endsProcess else { return }
                transport.end()
                scheduler.enqueue { device.restartCrashed() }
            })
    }
}
