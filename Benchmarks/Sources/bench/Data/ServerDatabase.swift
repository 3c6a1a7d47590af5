// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import SyncCore
import TableServer
import TableServerPostgreSQL

/// A database of a table server, with a table of many rows.
struct ServerDatabase: Sendable {
    enum Place: Sendable {
        case sqlite(path: String)
        case postgreSQL(String)
    }

    let place: Place
    let table: String

    var name: String {
        switch place {
        case .sqlite: "SQLite"
        case .postgreSQL: "PostgreSQL"
        }
    }

    func startServer() async throws -> TableServer {
        var configuration = TableServer.Configuration(tables: [.init(table)])
        configuration.recordsRequests = false
        configuration.storage =
            switch place {
            case .sqlite(let path): .file(path)
            case .postgreSQL(let parameters): .postgreSQL(parameters)
            }
        return try await TableServer.start(configuration: configuration)
    }

    func openBareRows() throws -> any BareRows {
        switch place {
        case .sqlite(let path): try BareSQLiteRows(path: path, table: table.lowercased())
        case .postgreSQL(let parameters): try BarePostgreSQLRows(parameters, table: table.lowercased())
        }
    }

    static func id(_ number: Int) -> String { "row-" + String(String(10_000_000 + number).dropFirst()) }

    /// The JSON of a row's fields.
    static func fields(_ number: Int) -> String {
        """
        {"complete":false,"due":"2025-01-10T08:30:00.100Z","note":"before the shops close","price":1.25,\
        "priority":\(number),"title":"Buy some litres of milk on the way"}
        """
    }

    /// Writes rows with one `updatedAt` for each millisecond, if they are not there. The server creates the tables.
    func fill(count: Int) async throws {
        let server = try await startServer()
        if try server.row(Self.id(count), in: table) == nil {
            guard case .object(let fields) = try ItemValue(json: Data(Self.fields(0).utf8)) else { return }
            try await server.put(Self.id(0), fields, in: table)
            try insertRows(count)
        }
        await server.stop()
    }

    private func insertRows(_ count: Int) throws {
        let insert =
            "INSERT INTO rows_\(table.lowercased()) (owner, id, createdAt, updatedAt, revision, deleted, fields) SELECT ''"
        let fields = "'" + Self.fields(0).replacing("\"priority\":0", with: "\"priority\":' || i || '") + "'"
        switch place {
        case .sqlite(let path):
            let time = "strftime('%Y-%m-%dT%H:%M:%f', 1700000000 + i / 1000.0, 'unixepoch') || '000000'"
            try DatabaseQueue(path: path).write { database in
                try database.execute(
                    sql: """
                        WITH RECURSIVE numbers(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < \(count))
                        \(insert), printf('row-%07d', i), \(time), \(time), 1, FALSE, \(fields) FROM numbers
                        """)
            }
        case .postgreSQL(let parameters):
            let time = """
                to_char(timestamp '2023-11-14 22:13:20' + i * interval '1 ms', 'YYYY-MM-DD"T"HH24:MI:SS.MS') || '000000'
                """
            try BareConnection(parameters, table: nil).run(
                """
                \(insert), 'row-' || lpad(i::text, 7, '0'), \(time), \(time), 1, FALSE, (\(fields))::json
                    FROM generate_series(1, \(count)) i;
                ANALYZE rows_\(table.lowercased())
                """)
        }
    }
}
