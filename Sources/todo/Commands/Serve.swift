// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import SyncModels
import TableServer

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run a server for testing, until Ctrl-C.",
        discussion:
            "The server uses the tables protocol, has the table TodoItem, and listens on this machine only."
    )

    static let defaultPort = 8080

    @Option(help: "The port to listen on; with 0 the system chooses one.")
    var port = Serve.defaultPort

    @Option(
        help: ArgumentHelp(
            "The file for the rows; without it they are in memory.", valueName: "path"))
    var file: String?

    @Flag(help: "Remove deleted rows without tombstones, so that pulls do not report deletions.")
    var hardDelete = false

    func run() async throws {
        var configuration = TableServer.Configuration(
            port: port, tables: [.init(TodoItem.schema.name, softDelete: !hardDelete)],
            storage: file.map { .file($0) } ?? .memory)
        // A request that a user types, such as with curl, then needs no headers.
        configuration.requiresAPIVersion = false
        configuration.recordsRequests = false
        let signals = TerminationSignals(duringStart: { endProcess(EXIT_SUCCESS) })
        let server = try await start(configuration)
        signals.hasStarted()
        let address = "\(server.url.absoluteString)/tables/\(TodoItem.schema.name)"
        Console.terminal.print("Serving \(address) (press Ctrl-C to stop)")
        await signals.next()
        await server.stop()
    }

    private func start(_ configuration: TableServer.Configuration) async throws -> TableServer {
        do {
            return try await TableServer.start(configuration: configuration)
        } catch {
            throw Failure(
                error.code == .binding
                    ? "Port \(port) cannot be used; another server may use it. Choose another one with --port."
                    : error.message)
        }
    }
}
