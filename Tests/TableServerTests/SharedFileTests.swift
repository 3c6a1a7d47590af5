// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import Foundation
    import Glibc
    import HTTPTypes
    import StoreMemory
    import Subprocess
    import SyncCore
    import Synchronization
    import TableServer
    import TestSupport
    import Testing

    /// Several server processes on one file, or on one PostgreSQL database.
    @Suite
    struct SharedFileTests {
        /// The number of rounds of each device. The environment variable `SERVER_ROUNDS` sets it.
        private static let rounds =
            ProcessInfo.processInfo.environment["SERVER_ROUNDS"].flatMap(Int.init) ?? 8
        private static let deviceCount = 6

        @Test(arguments: StorageKind.allCases)
        func `no change that any of the processes has confirmed is lost when they are killed`(
            _ kind: StorageKind
        ) async throws {
            try await withTemporaryDirectory { directory in
                // Other tests use the shared one.
                let postgreSQL = kind == .postgreSQL ? try PostgreSQLServer() : nil
                let servers = ServerProcesses(
                    storage: postgreSQL.map { ["--database", $0.connection()] }
                        ?? ["--data", directory.appending(path: "rows.sqlite").path])
                try await servers.run(count: 3) {
                    let devices = try (0..<Self.deviceCount).map { try SyncingDevice($0, servers) }
                    try await withThrowingTaskGroup { group in
                        for device in devices {
                            group.addTask {
                                for round in 1...Self.rounds {
                                    try await device.change(round)
                                    // Kills a server while other devices wait for its responses.
                                    if round.isMultiple(of: 2) { servers.kill(device.number % 3) }
                                    if round == Self.rounds / 2, device.number == 0 {
                                        try postgreSQL?.crash()
                                    }
                                    try await device.sync()
                                }
                            }
                        }
                        try await group.waitForAll()
                    }
                    for device in devices { try await device.sync() }
                    let expected = devices.reduce(into: [String: Int64]()) { rows, device in
                        for row in device.expectedRows(Self.rounds) { rows[row.key] = row.value }
                    }
                    for device in devices { #expect(try await device.rows() == expected) }
                    #expect(servers.startCount > 3 + Self.rounds)
                }
            }
        }
    }

    /// A device that changes only its own rows, and pulls those of all devices.
    private struct SyncingDevice {
        let number: Int
        private let context: SyncContext

        init(_ number: Int, _ servers: ServerProcesses) throws {
            self.number = number
            let table = SyncTableDefinition("TodoItem", columns: [SyncColumn("n", .integer)])
            let client = SyncClient(
                url: try #require(URL(string: "http://127.0.0.1:1")),
                transport: AnyServerTransport(servers: servers, number: number))
            var environment = SyncEnvironment.live
            environment.sleep = { _ in await Task.yield() }
            context = SyncContext(
                client: client, dataSource: try MemoryStore(tables: [table]), environment: environment)
        }

        private func id(_ round: Int) -> String { "\(number)-\(round)" }

        /// Inserts a row, updates the one before, and deletes the one before that if its number is a multiple of 3.
        func change(_ round: Int) async throws {
            let table = context.table("TodoItem")
            try await table.insert(["id": .text(id(round)), "n": 0])
            if round > 1 { try await table.update(id: id(round - 1), ["n": .int(Int64(round))]) }
            if round > 2, (round - 2).isMultiple(of: 3) { try await table.delete(id: id(round - 2)) }
        }

        /// The rows of this device after the rounds, with their `n`.
        func expectedRows(_ rounds: Int) -> [String: Int64] {
            var rows: [String: Int64] = [:]
            for round in 1...rounds where !round.isMultiple(of: 3) || round > rounds - 2 {
                rows[id(round)] = round == rounds ? 0 : Int64(round + 1)
            }
            return rows
        }

        /// Pushes and pulls until both succeed.
        ///
        /// - Throws: the last error, when they fail far more often than while a server starts.
        func sync() async throws {
            var attempt = 0
            while true {
                do {
                    try await context.push()
                    try await context.pull(TableQuery("TodoItem"), queryID: "all")
                    return
                } catch let error as SyncError where error.pushResult?.errors.isEmpty != false {
                    // No server answered. A conflict would be an error of the test.
                    attempt += 1
                    guard attempt < 10_000 else { throw error }
                    await Task.yield()
                }
            }
        }

        func rows() async throws -> [String: Int64] {
            let items = try await context.table("TodoItem").items()
            return Dictionary(uniqueKeysWithValues: items.map { ($0.id, $0["n"]?.intValue ?? -1) })
        }
    }

    /// Sends each request to the next of the servers.
    private final class AnyServerTransport: HTTPTransport {
        private let servers: ServerProcesses
        private let number: Int
        private let base: URLSessionTransport = .patient
        private let count = Atomic<Int>(0)

        init(servers: ServerProcesses, number: Int) {
            self.servers = servers
            self.number = number
        }

        func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
            var request = request
            let count = count.wrappingAdd(1, ordering: .relaxed).newValue
            request.head.authority = await servers.authority((number + count) % 3)
            return try await base.send(request)
        }
    }

    /// Processes of `table-server` on one storage. A process that is killed is started again.
    private final class ServerProcesses: Sendable {
        private let storage: [String]
        private let state = Mutex(State())

        private struct State {
            var isStopping = false
            var startCount = 0
            var servers: [Int: (process: pid_t, authority: String)] = [:]
            var waiting: [(slot: Int, continuation: CheckedContinuation<String, Never>)] = []
        }

        /// - Parameter storage: the arguments that tell where the rows are.
        init(storage: [String]) {
            self.storage = storage
        }

        /// How often a process has been started.
        var startCount: Int { state.withLock { $0.startCount } }

        /// Runs the processes while the body runs.
        func run(count: Int, _ body: () async throws -> Void) async throws {
            try await withThrowingTaskGroup { group in
                for slot in 0..<count { group.addTask { try await self.serve(slot) } }
                defer { stop() }
                try await body()
                stop()
                try await group.waitForAll()
            }
        }

        private func stop() {
            let processes = state.withLock { state in
                state.isStopping = true
                return state.servers.values.map(\.process)
            }
            for process in processes { Glibc.kill(process, SIGKILL) }
        }

        func kill(_ slot: Int) {
            let server = state.withLock { $0.servers.removeValue(forKey: slot) }
            if let server { Glibc.kill(server.process, SIGKILL) }
        }

        /// Returns the host and port of a server, when it has started.
        func authority(_ slot: Int) async -> String {
            await withCheckedContinuation { continuation in
                let authority = state.withLock { state in
                    let authority = state.servers[slot]?.authority
                    if authority == nil { state.waiting.append((slot, continuation)) }
                    return authority
                }
                if let authority { continuation.resume(returning: authority) }
            }
        }

        private func serve(_ slot: Int) async throws {
            let program = try builtProgram("table-server").path
            let arguments = Arguments([program, "--table", "TodoItem"] + storage)
            while !state.withLock({ $0.isStopping }) {
                _ = try await Subprocess.run(
                    .name("env"), arguments: arguments, input: .none, output: .sequence, error: .discarded
                ) { server in
                    var lines = server.standardOutput.strings().makeAsyncIterator()
                    guard let line = try await lines.next(), let url = URL(string: line),
                        let port = url.port
                    else { return }
                    started(slot, server.processIdentifier.value, "127.0.0.1:\(port)")
                    while try await lines.next() != nil {}
                }
            }
        }

        private func started(_ slot: Int, _ process: pid_t, _ authority: String) {
            let (isStopping, waiting) = state.withLock { state in
                state.startCount += 1
                state.servers[slot] = (process, authority)
                let waiting = state.waiting.filter { $0.slot == slot }
                state.waiting.removeAll { $0.slot == slot }
                return (state.isStopping, waiting)
            }
            for waiter in waiting { waiter.continuation.resume(returning: authority) }
            if isStopping { Glibc.kill(process, SIGKILL) }
        }
    }
#endif
