// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) || os(macOS)
    import AsyncHTTPTransport
    import Foundation
    import HTTPTypes
    import StoreMemory
    import SyncCore
    import Synchronization

    /// The program of a device, which changes only its own rows and pulls those of all devices: `device NUMBER`.
    ///
    /// Standard input has a command in each line: `servers HOST:PORT …` names the servers that run, `report` ends the
    /// changes and asks for a sync and a line with the ``DeviceReport``.
    final class StressedDevice: Sendable {
        private let number: Int
        private let context: SyncContext
        private let ownRows = Mutex([String: DeviceReport.Row]())

        static func run(_ arguments: [String]) async throws {
            let servers = ServerList()
            let device = try StressedDevice(arguments.first.flatMap { Int($0) } ?? 0, servers)
            let isAsked = Atomic(false)
            let (requests, asked) = AsyncStream.makeStream(of: Void.self)
            Thread.detachNewThread {
                while let line = readLine() {
                    let words = line.split(separator: " ").map(String.init)
                    switch words.first {
                    case "servers": servers.set(Array(words.dropFirst()))
                    default:
                        isAsked.store(true, ordering: .relaxed)
                        asked.yield()
                    }
                }
                // The parent has ended.
                exit(0)
            }
            while !isAsked.load(ordering: .relaxed) {
                try await device.change()
                try await device.sync()
            }
            for await _ in requests {
                try await device.sync()
                let report = try JSONEncoder().encode(try await device.report())
                FileHandle.standardOutput.write(report + Data("\n".utf8))
            }
        }

        private init(_ number: Int, _ servers: ServerList) throws {
            self.number = number
            let table = SyncTableDefinition("TodoItem", columns: [SyncColumn("n", .integer)])
            guard let url = URL(string: "http://127.0.0.1:1") else { throw URLError(.badURL) }
            context = SyncContext(
                client: SyncClient(url: url, transport: AnyServerTransport(servers, first: number)),
                dataSource: try MemoryStore(tables: [table]))
        }

        /// Inserts a row, and sometimes updates or deletes one of the earlier ones.
        private func change() async throws {
            let table = context.table("TodoItem")
            let rows = ownRows.withLock { $0 }
            let id = "\(number)-\(rows.count)"
            try await table.insert(["id": .text(id), "n": 0])
            ownRows.withLock { $0[id] = DeviceReport.Row(value: 0) }
            guard let old = rows.filter({ !$0.value.isDeleted }).randomElement() else { return }
            switch Int.random(in: 0..<10) {
            case ..<3:
                let value = Int64(rows.count)
                try await table.update(id: old.key, ["n": .int(value)])
                ownRows.withLock { rows in
                    rows[old.key]?.value = value
                    rows[old.key]?.changeCount += 1
                }
            case 3:
                try await table.delete(id: old.key)
                ownRows.withLock { rows in
                    rows[old.key]?.isDeleted = true
                    rows[old.key]?.changeCount += 1
                }
            default: break
            }
        }

        /// Pushes and pulls until both succeed. A conflict is an error of the servers, because only this device changes its
        /// rows.
        private func sync() async throws {
            while true {
                do {
                    try await context.push()
                    try await context.pull(TableQuery("TodoItem"), queryID: "all")
                    return
                } catch let error as SyncError where error.pushResult?.errors.isEmpty != false {
                    try await Task.sleep(for: .milliseconds(50))
                }
            }
        }

        private func report() async throws -> DeviceReport {
            let items = try await context.table("TodoItem").items()
            return DeviceReport(
                ownRows: ownRows.withLock { $0 },
                pulledRows: Dictionary(uniqueKeysWithValues: items.map { ($0.id, $0["n"]?.intValue ?? -1) }))
        }
    }

    /// The servers that run, as the parent process names them.
    final class ServerList: Sendable {
        private let authorities = Mutex([String]())

        func set(_ authorities: [String]) { self.authorities.withLock { $0 = authorities } }

        /// Returns the host and port of a server that runs. Waits for one.
        func authority(_ number: Int) async throws -> String {
            while true {
                let authorities = authorities.withLock { $0 }
                if !authorities.isEmpty { return authorities[number % authorities.count] }
                try await Task.sleep(for: .milliseconds(20))
            }
        }
    }

    /// Sends each request to the next of the servers.
    private final class AnyServerTransport: HTTPTransport {
        private let servers: ServerList
        // Requests of URLSession that wait keep a core busy on Linux.
        private let base = AsyncHTTPTransport()
        private let count: Atomic<Int>

        init(_ servers: ServerList, first: Int) {
            self.servers = servers
            count = Atomic(first)
        }

        func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
            var request = request
            let number = count.wrappingAdd(1, ordering: .relaxed).newValue
            request.head.authority = try await servers.authority(number)
            return try await base.send(request)
        }
    }
#endif
