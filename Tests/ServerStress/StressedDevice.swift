// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) || os(macOS)
    import Foundation
    import StoreMemory
    import SyncCore
    import Synchronization

    /// A device that changes only its own rows, and pulls those of all devices.
    final class StressedDevice: Sendable {
        /// What the device has done to a row.
        struct Row: Sendable {
            var value: Int64
            var changeCount = 1
            var isDeleted = false
        }

        private let number: Int
        private let context: SyncContext
        private let state = Mutex([String: Row]())

        init(_ number: Int, _ servers: StressedServers) throws {
            self.number = number
            let table = SyncTableDefinition("TodoItem", columns: [SyncColumn("n", .integer)])
            guard let url = URL(string: "http://127.0.0.1:1") else { throw URLError(.badURL) }
            context = SyncContext(
                client: SyncClient(url: url, transport: AnyServerTransport(servers, first: number)),
                dataSource: try MemoryStore(tables: [table]))
        }

        /// The rows that the device has changed.
        var ownRows: [String: Row] { state.withLock { $0 } }

        /// Inserts a row, and sometimes updates or deletes one of the earlier ones.
        func change() async throws {
            let table = context.table("TodoItem")
            let rows = ownRows
            let id = "\(number)-\(rows.count)"
            try await table.insert(["id": .text(id), "n": 0])
            state.withLock { $0[id] = Row(value: 0) }
            guard let old = rows.filter({ !$0.value.isDeleted }).randomElement() else { return }
            switch Int.random(in: 0..<10) {
            case ..<3:
                let value = Int64(rows.count)
                try await table.update(id: old.key, ["n": .int(value)])
                state.withLock { rows in
                    rows[old.key]?.value = value
                    rows[old.key]?.changeCount += 1
                }
            case 3:
                try await table.delete(id: old.key)
                state.withLock { rows in
                    rows[old.key]?.isDeleted = true
                    rows[old.key]?.changeCount += 1
                }
            default: break
            }
        }

        /// Pushes and pulls until both succeed. A conflict is an error of the servers, because only this device changes its
        /// rows.
        func sync() async throws {
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

        /// The rows of all devices that this one has pulled.
        func rows() async throws -> [String: Int64] {
            let items = try await context.table("TodoItem").items()
            return Dictionary(uniqueKeysWithValues: items.map { ($0.id, $0["n"]?.intValue ?? -1) })
        }
    }
#endif
