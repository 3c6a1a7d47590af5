// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import TableServer

/// Table servers on one database, one in each process.
final class ServerProcesses: Sendable {
    private let processes: [Server]
    let ports: [Int]

    private struct Server: Sendable {
        let process: Process
        let input: Pipe
    }

    init(_ database: ServerDatabase, count: Int) throws {
        let started = try (0..<count).map { _ in
            let (process, input, output) = (Process(), Pipe(), Pipe())
            process.executableURL = ChildProcess.program
            process.arguments = ServeTable.arguments(of: database)
            (process.standardInput, process.standardOutput) = (input, output)
            try process.run()
            return (Server(process: process, input: input), output)
        }
        processes = started.map(\.0)
        ports = started.compactMap { _, output in
            var line = Data()
            while let byte = try? output.fileHandleForReading.read(upToCount: 1), byte != Data("\n".utf8),
                !byte.isEmpty
            { line += byte }
            return Int(String(decoding: line, as: UTF8.self))
        }
        guard ports.count == count else { throw WrongResult("A server has not started.") }
    }

    func stop() {
        for server in processes {
            try? server.input.fileHandleForWriting.close()
            server.process.waitUntilExit()
        }
    }
}

/// Serves a table until the end of the input, and prints the port.
struct ServeTable: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "serve-table", shouldDisplay: false)

    @Argument var place: String
    @Argument var parameters: String
    @Argument var table: String

    static func arguments(of database: ServerDatabase) -> [String] {
        switch database.place {
        case .sqlite(let path): ["serve-table", "sqlite", path, database.table]
        case .postgreSQL(let parameters): ["serve-table", "postgresql", parameters, database.table]
        }
    }

    func run() async throws {
        let place: ServerDatabase.Place =
            place == "sqlite" ? .sqlite(path: parameters) : .postgreSQL(parameters)
        let server = try await ServerDatabase(place: place, table: table).startServer()
        print(server.url.port ?? 0)
        fflush(nil)
        // Blocks a thread of tasks, of which a server with requests needs none.
        _ = await Task.detached { FileHandle.standardInput.readDataToEndOfFile() }.value
        await server.stop()
    }
}
