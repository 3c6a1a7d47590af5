// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import TableServer

/// Requests to a table server with many rows, beside a bare handler with the same SQL on the same database.
enum ServerRequests {
    /// - Parameter database: A connection string of a PostgreSQL database; `nil` to leave PostgreSQL out.
    static func all(_ scale: Scale, database: String?) -> [Workload] {
        let (rows, few) = (scale.of(1_000_000), 10_000)
        let sizes = [(rows, "", TodoRow.table), (few, "10k.", "Todo10k")]
        let workloads = sizes.flatMap { rows, prefix, table in
            kinds(scale, rows: rows, table: table).flatMap { kind in
                [1, 8].map { connections in
                    let name = "server.\(prefix)\(kind.name).\(connections)"
                    let workload = Workload(name) { directory in
                        let title = "Request \(kind.title) of \(rows) rows over \(connections) connections"
                        return benchmark(
                            name, title, kind.requests, connections: connections,
                            databases(directory, database, table), rows: rows)
                    }
                    return (kind.isWrite, workload)
                }
            }
        }
        let several = kinds(scale, rows: rows, table: TodoRow.table).filter(\.isForProcesses).map { kind in
            let name = "server.processes.\(kind.name)"
            let workload = Workload(name) { directory in
                let title = "Request \(kind.title) of \(rows) rows over 8 connections to several processes"
                return processes(
                    name, title, kind.requests, databases(directory, database, TodoRow.table), rows: rows)
            }
            return (kind.isWrite, workload)
        }
        // PostgreSQL keeps the changes of earlier benchmarks, and SQLite begins again: reads would differ after a write.
        let all = workloads + several
        return all.filter { !$0.0 }.map(\.1) + all.filter(\.0).map(\.1)
    }

    private static func databases(
        _ directory: SharedDirectory, _ database: String?, _ table: String
    ) -> [ServerDatabase] {
        [ServerDatabase(place: .sqlite(path: directory.path("rows")), table: table)]
            + (database.map { [ServerDatabase(place: .postgreSQL($0), table: table)] } ?? [])
    }

    private typealias Request = (method: String, target: String, body: String)

    private struct Kind {
        let name: String
        let title: String
        let requests: [Request]
        /// Whether it is also measured with several processes.
        var isForProcesses = false
        /// Whether the requests change rows.
        var isWrite: Bool { name == "update" }
    }

    private static func kinds(_ scale: Scale, rows: Int, table: String) -> [Kind] {
        let (page, row) = (scale.of(2000), scale.of(10_000))
        let parameters = "$orderby=updatedAt,id&$top=50&__includeDeleted=true"
        let half = Date(timeIntervalSince1970: 1_700_000_000 + Double(rows) / 2000)
        let time = ISO8601DateFormatter().string(from: half).dropLast()
        let since = "$filter=(updatedAt%20ge%20datetimeoffset'\(time).000Z')"
        func pages(_ query: String, count: Int) -> [Request] {
            (0..<count).map { _ in ("GET", "/tables/\(table)?\(query)", "") }
        }
        func path(_ number: Int) -> String { "/tables/\(table)/\(ServerDatabase.id(number))" }
        let numbers = (0..<row).map { 1 + $0 &* 7919 % rows }
        return [
            Kind(
                name: "first-page", title: "the first page", requests: pages(parameters, count: page),
                isForProcesses: true),
            // The number of rows is the cost of this one.
            Kind(
                name: "counted-page", title: "the first page and the number",
                requests: pages("$inlinecount=allpages&\(parameters)", count: scale.of(40))),
            Kind(
                name: "delta-page", title: "a page of changes",
                requests: pages("\(since)&\(parameters)", count: page)),
            Kind(name: "row", title: "a row by its id", requests: numbers.map { ("GET", path($0), "") }),
            Kind(
                name: "update", title: "an update",
                requests: numbers.prefix(page).map { ("PATCH", path($0), ServerDatabase.fields($0 + 1)) },
                isForProcesses: true),
        ]
    }

    private static func benchmark(
        _ name: String, _ title: String, _ requests: [Request], connections: Int,
        _ databases: [ServerDatabase], rows: Int
    ) -> Benchmark {
        let load = RequestLoad(requests)
        let filled = databases.map { database in Shared { try await database.fill(count: rows) } }
        return Benchmark(
            name: name, title: title, count: requests.count, unit: "request",
            contenders: zip(databases, filled).flatMap { database, filled in
                [
                    Contender(database.name) { trial in
                        _ = try await filled.value()
                        let server = try await database.startServer()
                        let bytes = try await load.send(
                            to: [server.url.port ?? 0], connections: connections, in: trial)
                        await server.stop()
                        return bytes
                    },
                    Contender("bare \(database.name)") { trial in
                        _ = try await filled.value()
                        let server = try await BareServer.start(database.openBareRows())
                        let bytes = try await load.send(
                            to: [server.port], connections: connections, in: trial)
                        await server.stop()
                        return bytes
                    },
                ]
            },
            lines: databases.map { database in
                let bare = "bare \(database.name)"
                return connections == 1
                    ? ReportLine(database.name, goals: [.atMost(1.5, times: bare)])
                    : ReportLine(database.name, floor: bare, goals: [.ofFloor(0.7)])
            })
    }

    /// Servers in other processes. Their processor time is not that of this process, and not measured.
    private static func processes(
        _ name: String, _ title: String, _ requests: [Request], _ databases: [ServerDatabase], rows: Int
    ) -> Benchmark {
        let load = RequestLoad(requests)
        let contenders = databases.flatMap { database in
            let filled = Shared { try await database.fill(count: rows) }
            return [1, 2, 4].map { count in
                Contender("\(database.name), \(count)") { trial in
                    _ = try await filled.value()
                    let servers = try ServerProcesses(database, count: count)
                    defer { servers.stop() }
                    return try await load.send(to: servers.ports, connections: 8, in: trial)
                }
            }
        }
        return Benchmark(
            name: name, title: title, count: requests.count, unit: "request", contenders: contenders,
            lines: [])
    }
}
