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
            // A device that has ended is noticed when it is asked for its report.
            signal(SIGPIPE, SIG_IGN)
            let devices = try (0..<Self.deviceCount).map { try DeviceProcess($0) }
            let servers = StressedServers(arguments: arguments(true)) { servers in
                for device in devices { device.use(servers: servers) }
            }
            defer { servers.stop() }
            let restartCount = try await disturb(
                servers, postgreSQL, until: ContinuousClock.now + .seconds(seconds))
            let (startCount, lateCount) = (servers.startCount, servers.lateCount)
            servers.restart(arguments: arguments(false))
            _ = try await reports(devices)
            // Those that were first had not seen the last changes of the others.
            let reports = try await reports(devices)
            return report(
                reports, try await storedRows(postgreSQL),
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

        /// Lets all devices sync, and returns their reports.
        private func reports(_ devices: [DeviceProcess]) async throws -> [DeviceReport] {
            try await withThrowingTaskGroup { group in
                for device in devices { group.addTask { try await device.report() } }
                return try await group.reduce(into: []) { $0.append($1) }
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
        private func report(_ reports: [DeviceReport], _ stored: [String: TableRow], faults: String) -> Report
        {
            var (changeCount, lostCount, duplicateCount, missCount) = (0, 0, 0, 0)
            let live = stored.filter { !$0.value.deleted }
            for device in reports {
                for (id, row) in device.ownRows {
                    changeCount += row.changeCount
                    let found = stored[id]
                    if found?.deleted != row.isDeleted || found?.fields["n"]?.intValue != row.value {
                        lostCount += 1
                    }
                    // Each change is one revision.
                    if let found, found.revision > row.changeCount { duplicateCount += 1 }
                }
                let pulled = device.pulledRows
                missCount += live.count { pulled[$0.key] != $0.value.fields["n"]?.intValue }
                missCount += pulled.count { live[$0.key] == nil }
            }
            return Report(
                text: """
                    \(locksStamps ? "With" : "Without") the lock, in \(seconds) s: \(faults).
                    \(Self.deviceCount) devices, each a process, made \(changeCount) confirmed changes: \(lostCount) lost, \(duplicateCount) \
                    made twice. Rows that a device has missed: \(missCount).
                    """,
                lostCount: lostCount, duplicateCount: duplicateCount, missCount: missCount)
        }
    }
#endif
