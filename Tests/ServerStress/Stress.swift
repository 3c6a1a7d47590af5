// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) || os(macOS)
    import Foundation
    import SyncCore
    import TableServer
    import TableServerPostgreSQL
    import TestSupport

    /// Devices that change rows while servers are killed, PostgreSQL restarts, and commits are late.
    struct Stress {
        let seconds: Int
        let locksStamps: Bool
        private static let deviceCount = 24

        /// What was found.
        struct Report {
            let text: String
            let lostCount: Int
            let duplicateCount: Int
            let missCount: Int
        }

        func run() async throws -> Report {
            let postgreSQL = try PostgreSQLServer()
            let arguments = { hasFaults in
                StressedServer.arguments(
                    postgreSQL.connection(), locksStamps: locksStamps, hasFaults: hasFaults)
            }
            let servers = StressedServers(arguments: arguments(true))
            defer { servers.stop() }
            let devices = try (0..<Self.deviceCount).map { try StressedDevice($0, servers) }
            let end = ContinuousClock.now + .seconds(seconds)
            let restartCount = try await withThrowingTaskGroup(of: Int.self) { group in
                for device in devices {
                    group.addTask {
                        while ContinuousClock.now < end {
                            try await device.change()
                            try await device.sync()
                        }
                        return 0
                    }
                }
                group.addTask { try await disturb(servers, postgreSQL, until: end) }
                return try await group.reduce(0, +)
            }
            let (startCount, lateCount) = (servers.startCount, servers.lateCount)
            servers.restart(arguments: arguments(false))
            try await withThrowingTaskGroup { group in
                for device in devices { group.addTask { try await device.sync() } }
                try await group.waitForAll()
            }
            // Those that were first have not seen the last changes of the others.
            for device in devices { try await device.sync() }
            return try await report(
                devices, try await storedRows(postgreSQL),
                faults: "\(startCount - StressedServers.count) servers were killed, PostgreSQL was restarted "
                    + "\(restartCount) times, \(lateCount) commits were late")
        }

        /// Kills servers, and restarts PostgreSQL. Returns how often it did the latter.
        private func disturb(
            _ servers: StressedServers, _ postgreSQL: PostgreSQLServer, until end: ContinuousClock.Instant
        ) async throws -> Int {
            var (round, restartCount) = (0, 0)
            while true {
                try await Task.sleep(for: .milliseconds(.random(in: 500...2500)))
                guard ContinuousClock.now < end else { return restartCount }
                round += 1
                servers.kill(.random(in: 0..<StressedServers.count))
                guard round.isMultiple(of: 4) else { continue }
                restartCount += 1
                try restartCount.isMultiple(of: 2) ? postgreSQL.restart() : postgreSQL.crash()
            }
        }

        private func storedRows(_ postgreSQL: PostgreSQLServer) async throws -> [String: TableRow] {
            let configuration = TableServer.Configuration(
                tables: [.init("TodoItem")], storage: .postgreSQL(postgreSQL.connection()))
            return try await withTableServer(configuration) { server in
                let rows = try server.rows(in: "TodoItem")
                return Dictionary(uniqueKeysWithValues: rows.map { ($0.id, $0) })
            }
        }

        /// Compares what the devices did with the rows of the database, and these with what each device has pulled.
        private func report(
            _ devices: [StressedDevice], _ stored: [String: TableRow], faults: String
        ) async throws -> Report {
            var (changeCount, lostCount, duplicateCount, missCount) = (0, 0, 0, 0)
            for device in devices {
                for (id, row) in device.ownRows {
                    changeCount += row.changeCount
                    let found = stored[id]
                    if found?.deleted != row.isDeleted || found?.fields["n"]?.intValue != row.value {
                        lostCount += 1
                    }
                    // Each change is one revision.
                    if let found, found.revision > row.changeCount { duplicateCount += 1 }
                }
                let pulled = try await device.rows()
                let live = stored.filter { !$0.value.deleted }
                missCount += live.count { pulled[$0.key] != $0.value.fields["n"]?.intValue }
                missCount += pulled.count { live[$0.key] == nil }
            }
            return Report(
                text: """
                    \(locksStamps ? "With" : "Without") the lock, in \(seconds) s: \(faults).
                    \(Self.deviceCount) devices made \(changeCount) confirmed changes: \(lostCount) lost, \(duplicateCount) \
                    made twice. Rows that a device has missed: \(missCount).
                    """,
                lostCount: lostCount, duplicateCount: duplicateCount, missCount: missCount)
        }
    }
#endif
