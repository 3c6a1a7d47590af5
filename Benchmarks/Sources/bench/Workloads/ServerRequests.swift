// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import TableServer

/// Requests to a table server with many rows, beside a bare handler with the same SQL on the same database.
enum ServerRequests {
    /// - Parameter database: A connection string of a PostgreSQL database; `nil` to leave PostgreSQL out.
    static func all(_ scale: Scale, database: String?) -> [Workload] {
        let rows = scale.of(1_000_000)
        let (page, point) = (scale.of(2000), scale.of(10_000))
        let parameters = "$orderby=updatedAt,id&$top=50&__includeDeleted=true"
        let time = ISO8601DateFormatter().string(
            from: Date(timeIntervalSince1970: 1_700_000_000 + Double(rows) / 2000))
        let since = "$filter=(updatedAt%20ge%20datetimeoffset'\(time.dropLast()).000Z')"
        func get(_ target: String, _ count: Int) -> [Request] {
            (0..<count).map { _ in ("GET", "/tables/TodoItem\(target)", "") }
        }
        func numbers(_ count: Int) -> [Int] { (0..<count).map { 1 + $0 &* 7919 % rows } }
        let kinds: [(name: String, title: String, requests: [Request])] = [
            ("first-page", "the first page", get("?\(parameters)", page)),
            ("delta-page", "a page of changes", get("?\(since)&\(parameters)", page)),
            (
                "row", "a row by its id",
                numbers(point).map { ("GET", "/tables/TodoItem/\(ServerDatabase.id($0))", "") }
            ),
            (
                "update", "an update",
                numbers(page).map { number in
                    (
                        "PATCH", "/tables/TodoItem/\(ServerDatabase.id(number))",
                        ServerDatabase.fields(number + 1)
                    )
                }
            ),
        ]
        return kinds.flatMap { kind in
            [1, 8].map { connections in
                Workload("server.\(kind.name).\(connections)") { directory in
                    let databases =
                        [.sqlite(path: directory.path("rows"))] + (database.map { [.postgreSQL($0)] } ?? [])
                    return benchmark(
                        "server.\(kind.name).\(connections)",
                        "Request \(kind.title) of \(rows) rows, over \(connections) connections",
                        kind.requests,
                        connections: connections, databases, rows: rows)
                }
            }
        }
    }

    private typealias Request = (method: String, target: String, body: String)

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
