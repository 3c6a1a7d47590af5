// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Dispatch
import Foundation
import TableServer

/// Serves tables until it is told to end.
@main
struct TableServerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "table-server",
        abstract: "Serves the tables protocol, for trying and testing clients.",
        discussion: "Prints its URL on one line when it is ready, and ends on SIGINT or SIGTERM.")

    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    @Option(help: "The port to listen on; 0 lets the system choose.")
    var port = 0

    @Option(name: .customLong("table"), help: "A table, NAME:soft or NAME:hard; may be given several times.")
    var tables: [TableArgument]

    @Option(help: "The SQLite file that keeps the rows; without it they are kept in memory.")
    var data: String?

    @Option(help: "The most rows in one answer.")
    var pageSize = 50

    @Option(help: "The greatest $top that is accepted.")
    var maxTop = 1000

    func run() async throws {
        var configuration = TableServer.Configuration(
            port: port, tables: tables.map(\.table), storage: data.map { .file($0) } ?? .memory)
        configuration.host = host
        configuration.pageSize = pageSize
        configuration.maxTop = maxTop

        let signals = TerminationSignals()
        let server = try await TableServer.start(configuration: configuration)
        FileHandle.standardOutput.write(Data("\(server.url.absoluteString)\n".utf8))
        await signals.next()
        await server.stop()
    }
}
