// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import TableServer

/// Requests to a table server with many rows, beside a bare handler with the same SQL on the same database.
enum ServerRequests {
    /// - Parameter database: A connection string of a PostgreSQL database; `nil` to leave PostgreSQL out.
    static func all(_ scale: Scale, database: String?) -> [Workload] {
        let rows = scale.of(1_000_000)
        return kinds(scale, rows: rows).flatMap { kind in
            [1, 8].map { connections in
                let name = "server.\(kind.name).\(connections)"
                return Workload(name) { directory in
                    var databases = [ServerDatabase.sqlite(path: directory.path("rows"))]
                    if let database { databases.append(.postgreSQL(database)) }
                    let title = "Request \(kind.title) of \(rows) rows over \(connections) connections"
                    return benchmark(
                        name, title, kind.requests, connections: connections, databases, rows: rows)
                }
            }
        }
    }

    private typealias Request = (method: String, target: String, body: String)

    private struct Kind {
        let name: String
        let title: String
        let requests: [Request]
    }

    private static func kinds(_ scale: Scale, rows: Int) -> [Kind] {
        let (page, row) = (scale.of(2000), scale.of(10_000))
        let parameters = "$orderby=updatedAt,id&$top=50&__includeDeleted=true"
        let half = Date(timeIntervalSince1970: 1_700_000_000 + Double(rows) / 2000)
        let time = ISO8601DateFormatter().string(from: half).dropLast()
        let since = "$filter=(updatedAt%20ge%20datetimeoffset'\(time).000Z')"
        func pages(_ query: String) -> [Request] {
            (0..<page).map { _ in ("GET", "/tables/TodoItem?\(query)", "") }
        }
        func path(_ number: Int) -> String { "/tables/TodoItem/\(ServerDatabase.id(number))" }
        let numbers = (0..<row).map { 1 + $0 &* 7919 % rows }
        return [
            Kind(name: "first-page", title: "the first page", requests: pages(parameters)),
            Kind(
                name: "delta-page", title: "a page of changes", requests: pages("\(since)&\(parameters)")),
            Kind(name: "row", title: "a row by its id", requests: numbers.map { ("GET", path($0), "") }),
            Kind(
                name: "update", title: "an update",
                requests: numbers.prefix(page).map { ("PATCH", path($0), ServerDatabase.fields($0 + 1)) }),
        ]
    }

    private static func benchmark(
        _ name: String, _ title: String, _ requests: [Request], connections: Int,
        _ databases: [ServerDatabase], rows: Int
    ) -> Benchmark {
        let load = RequestLoad(requests)
        let filled = Shared {
            for database in databases { try await database.fill(count: rows) }
            return true
        }
        return Benchmark(
            name: name, title: title, count: requests.count, unit: "request",
            contenders: databases.flatMap { database in
                [
                    Contender(database.name) { trial in
                        _ = try await filled.value()
                        let server = try await database.startServer()
                        let bytes = try await trial.measure {
                            try await load.send(to: server.url.port ?? 0, connections: connections)
                        }
                        await server.stop()
                        return bytes
                    },
                    Contender("bare \(database.name)") { trial in
                        _ = try await filled.value()
                        let server = try await BareServer.start(database.openBareRows())
                        let bytes = try await trial.measure {
                            try await load.send(to: server.port, connections: connections)
                        }
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
}
