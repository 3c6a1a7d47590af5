// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreMemory
import SyncModels
import Synchronization
import TestSupport

@testable import SyncSimulation

/// Devices with automatic syncs and one server, on one thread with a virtual clock.
final class VirtualSystem: Sendable {
    static func tables() throws -> [SyncTableDefinition] { try .models(TodoList.self, Todo.self) }

    let scheduler: SimulationScheduler
    let server: ModelServer
    private let random: Mutex<SimulationRandom>
    private let tasks = Mutex<[Task<Void, Never>]>([])

    /// Runs the body with a system, and ends the tasks that it has started.
    static func run(seed: UInt64 = 1, _ body: (VirtualSystem) async throws -> Void) async throws {
        let system = try VirtualSystem(seed: seed)
        let result: Result<Void, any Error>
        do { result = .success(try await body(system)) } catch { result = .failure(error) }
        for task in system.tasks.withLock({ $0 }) { task.cancel() }
        await system.advance(.seconds(120))
        try result.get()
    }

    private init(seed: UInt64) throws {
        let scheduler = SimulationScheduler(seed: seed, mode: .keyed)
        self.scheduler = scheduler
        random = Mutex(SimulationRandom(seed))
        var traits = ModelServerTraits()
        traits.keptDigits = 7
        traits.shownDigits = 7
        server = ModelServer(app: SimulatedApp(tables: try Self.tables()), traits: traits) {
            scheduler.nanosecondsSince1970
        }
    }

    /// Time since the start.
    var time: Duration { .nanoseconds(scheduler.nanoseconds) }

    /// A device whose sync does not run yet.
    func device(
        _ name: String = "device", pulls: [PullPlan] = [Todo.all.pull(), TodoList.all.pull()],
        store: (any SyncContextDataSource)? = nil, settings: SyncSettings = SyncSettings(),
        autoSync: AutoSync.Settings = AutoSync.Settings(), delegate: (any SyncContextDelegate)? = nil,
        clock: @escaping @Sendable (Timestamp) -> Timestamp = { $0 },
        refresh: (@Sendable () async throws -> String?)? = nil
    ) throws -> VirtualDevice {
        let network = VirtualNetwork(self, name)
        let environment = SyncEnvironment(
            now: { [scheduler] in clock(scheduler.now) },
            sleep: { [scheduler] in try await scheduler.sleep(Int64(($0 / .nanoseconds(1)).rounded(.up))) },
            random: { self.random.withLock { $0.next() } }, executor: SimulatedStoreExecutor(scheduler),
            uptime: { [scheduler] in .nanoseconds(scheduler.nanoseconds) })
        let url = URL(string: "https://server.example") ?? URL(filePath: "/")
        let client = Authentication.$executor.withValue(scheduler) {
            SyncClient(url: url, transport: network, installationID: name, refreshAuthentication: refresh)
        }
        let context = SyncContext(
            client: client, dataSource: try store ?? MemoryStore(tables: Self.tables()), delegate: delegate,
            settings: settings, environment: environment)
        return VirtualDevice(
            system: self, network: network, context: context,
            sync: AutoSync(context, pulls: pulls, settings: autoSync))
    }

    /// Runs the sync of a device whose item `milk` the server then changes at the same time as the device.
    func makeConflict(on device: VirtualDevice) async throws {
        try await device.insert("milk")
        device.run()
        await advance(.seconds(5))
        server.write("milk", ["text": .text("theirs")], in: "TodoItem", isLate: false)
        try await device.update("milk", "mine")
        await advance(.seconds(5))
    }

    /// Starts a task of the system.
    func start<T: Sendable>(_ body: @escaping @Sendable () async throws -> T) -> VirtualTask<T> {
        let result = VirtualTask<T>.Outcome()
        let task = Task(executorPreference: scheduler) {
            do { result.store(.success(try await body())) } catch { result.store(.failure(error)) }
        }
        tasks.withLock { $0.append(task) }
        return VirtualTask(task: task, outcome: result)
    }

    /// Runs a task of the system to its end, and all others beside it.
    @discardableResult
    func perform<T: Sendable>(_ body: @escaping @Sendable () async throws -> T) async throws -> T {
        try await value(of: start(body))
    }

    /// Runs the system until the task has ended, and returns its result.
    func value<T: Sendable>(of task: VirtualTask<T>) async throws -> T {
        await runJobs { task.result != nil }
        guard let result = task.result else { throw TaskDoesNotEnd() }
        return try result.get()
    }

    /// Advances the clock, and runs what is due.
    func advance(_ duration: Duration) async {
        let isOver = VirtualTask<Void>.Outcome()
        scheduler.schedule(after: Int64(duration / .nanoseconds(1))) { isOver.store(.success(())) }
        await runJobs { isOver.value != nil }
    }

    /// Runs jobs until the condition holds, on a thread: they never suspend it, and the test's task is not theirs.
    private func runJobs(until isOver: @escaping @Sendable () -> Bool) async {
        await onThread { _ = self.scheduler.run(until: isOver, maxSteps: 100_000_000) }
    }

    struct TaskDoesNotEnd: Error {}
}

/// A task of a virtual system.
struct VirtualTask<T: Sendable>: Sendable {
    final class Outcome: Sendable {
        private let stored = Mutex<Result<T, any Error>?>(nil)
        var value: Result<T, any Error>? { stored.withLock { $0 } }
        func store(_ result: Result<T, any Error>) { stored.withLock { $0 = result } }
    }

    fileprivate let task: Task<Void, Never>
    fileprivate let outcome: Outcome

    /// The result; `nil` until the task has ended.
    var result: Result<T, any Error>? { outcome.value }

    func cancel() { task.cancel() }
}

/// A device of a virtual system.
struct VirtualDevice: Sendable {
    let system: VirtualSystem
    let network: VirtualNetwork
    let context: SyncContext
    let sync: AutoSync

    /// Starts the automatic sync.
    @discardableResult
    func run() -> VirtualTask<Void> { system.start { [sync] in await sync.run() } }

    func insert(_ text: String) async throws {
        try await system.perform { [context] in
            _ = try await context.table(Todo.self).insert(Todo(id: SyncID(stringLiteral: text), text: text))
        }
    }

    func update(_ id: String, _ text: String) async throws {
        try await system.perform { [context] in
            _ = try await context.table(Todo.self).update(SyncID(stringLiteral: id)) { $0.text = text }
        }
    }

    /// The texts of all items, by id.
    func texts() async throws -> [String: String] {
        let todos = try await system.perform { [context] in try await context.table(Todo.self).fetch() }
        return Dictionary(uniqueKeysWithValues: todos.map { ($0.id.description, $0.text) })
    }

    func pending() async throws -> Int {
        try await system.perform { [context] in try await context.pendingOperationCount() }
    }
}
