// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import SyncCore
import TableServer

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run a server for trying things out, until Ctrl-C.",
        discussion: "It speaks the tables protocol, has the table TodoItem, and listens on this machine only."
    )

    static let defaultPort = 8080

    @Option(help: "The port to listen on; 0 lets the system choose.")
    var port = Serve.defaultPort

    @Option(
        help: ArgumentHelp(
            "The file that keeps the rows; without it they are kept in memory.", valueName: "path"))
    var file: String?

    @Flag(help: "Forget deleted rows instead of keeping tombstones, so that pulls do not learn of them.")
    var hardDelete = false

    func run() async throws {
        var configuration = TableServer.Configuration(
            port: port, tables: [.init(TodoItem.definition.name, softDelete: !hardDelete)],
            storage: file.map { .file($0) } ?? .memory)
        // So that a request typed by hand needs no headers.
        configuration.requiresAPIVersion = false
        let signals = TerminationSignals()
        let server = try await start(configuration)
        let address = "\(server.url.absoluteString)/tables/\(TodoItem.definition.name)"
        Console.terminal.print("Serving \(address) (Ctrl-C ends)")
        await signals.next()
        await server.stop()
    }

    private func start(_ configuration: TableServer.Configuration) async throws -> TableServer {
        do {
            return try await TableServer.start(configuration: configuration)
        } catch {
            throw Failure(
                error.code == .binding
                    ? "Port \(port) cannot be used, perhaps because another server has it. Choose one with --port."
                    : error.message)
        }
    }
}
