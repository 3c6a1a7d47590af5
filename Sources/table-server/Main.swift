// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Dispatch
import Foundation
import Logging
import TableServer
import TableServerPostgreSQL

/// Serves tables until it receives a termination signal.
@main
struct TableServerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "table-server",
        abstract: "Serve the tables protocol.",
        discussion:
            "The program prints its URL on one line when it is ready, and ends on SIGINT or SIGTERM: it answers the requests "
            + "under way for at most ten seconds, or until a second signal. During its start it ends at once. GET /health/live and /health/ready tell its state.\n\n"
            + "Each option can also be a member of a JSON file, for example {\"table\": [\"TodoItem\"], \"page-size\": 100}, or an "
            + "environment variable, such as TABLESERVER_PAGE_SIZE, with commas between tables. The command line comes before the "
            + "environment, and the environment before the file."
    )

    static func main() async {
        let sources = SettingSources(
            Array(CommandLine.arguments.dropFirst()), environment: ProcessInfo.processInfo.environment)
        do {
            let arguments = try sources.arguments()
            do {
                try await parse(arguments.list).run()
            } catch {
                throw arguments.locating(error)
            }
        } catch {
            exit(withError: error)
        }
    }

    @Option(help: "The JSON file with settings; also TABLESERVER_CONFIG.")
    var config: String?

    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    @Option(help: "The port to listen on; with 0 the system chooses one.")
    var port = 0

    @Option(
        name: .customLong("table"),
        help: ArgumentHelp(
            "A table; can be repeated, and at least one is needed.",
            discussion: """
                NAME:soft (the default) keeps deleted rows as tombstones, NAME:hard removes them. NAME:anonymous (the \
                default), NAME:authenticated or NAME:admin says who may use the table, and read=, insert=, update= or \
                delete= with one of them who may do this operation. In NAME:per-user each user sees only their own rows. \
                NAME:columns=text+complete declares the columns: a write that names another one is refused. Without it, \
                which is for trying, a column appears with its first value, from any client. Properties can be combined: \
                NAME:hard:authenticated:delete=admin.
                """),
        transform: TableServer.Table.init(argument:))
    var tables: [TableServer.Table] = []

    @Option(help: "The SQLite file for the rows; without it they are in memory.")
    var data: String?

    @Option(
        help: ArgumentHelp(
            "The PostgreSQL database for the rows, instead of a file.",
            discussion: """
                A connection string such as postgresql://user@host/database. Other users of the machine can see it, so the \
                password is better in the file ~/.pgpass or in the environment variable PGPASSWORD.
                """))
    var database: String?

    @Option(help: "The maximum number of connections to the PostgreSQL database (default: 10).")
    var maxConnections: Int?

    @Option(help: "The maximum number of rows in one response.")
    var pageSize = 50

    @Option(help: "The maximum $top.")
    var maxTop = 1000

    @Option(
        help:
            "How many requests a second each user may send; without users, each address. (default: no limit)")
    var maxRequests: Int?

    @Option(help: "The maximum number of open change feeds.")
    var maxFeeds = 1000

    @Option(help: "How many change feeds each user may have open.")
    var maxFeedsPerUser = 100

    @Option(
        help: ArgumentHelp(
            "The dialect of requests without ZUMO-API-VERSION: v2 or v3; without it they are refused.",
            discussion: "Newer clients of the Datasync toolkit, dialect v3, do not send the header."))
    var dialect: RequestDialect?

    @Flag(help: "Show the tables and the latest rows and requests to a browser on this machine, at the URL.")
    var page = false

    @Flag(help: "Respond to GET /metrics with the numbers and durations of requests, for Prometheus.")
    var metrics = false

    @Option(
        help: """
            The messages that are written to the standard error, as JSON: debug, info (with a line for each request), \
            notice, warning or error.
            """)
    var logLevel = LogLevel.notice

    @OptionGroup(title: "Tokens of users") var tokens: TokenOptions

    /// The parser calls `validate()` before it reports unknown options, which may be the reason for a missing one.
    private func validateOptions() throws {
        if tables.isEmpty {
            throw ValidationError("The server has no table: name one, for example with --table TodoItem.")
        }
        if data != nil, database != nil {
            throw ValidationError("--data and --database are two places for the rows: use one of them.")
        }
        if maxConnections != nil, database == nil {
            throw ValidationError("--max-connections is for --database, which is not given.")
        }
    }

    private var storage: TableServer.Storage {
        if let database { return .postgreSQL(database, maxConnections: maxConnections ?? 10) }
        return data.map { .file($0) } ?? .memory
    }

    func run() async throws {
        try validateOptions()
        var configuration = TableServer.Configuration(
            port: port, tables: tables, storage: storage)
        configuration.host = host
        configuration.pageSize = pageSize
        configuration.maxTop = maxTop
        configuration.maxRequestsPerSecond = maxRequests
        configuration.maxFeeds = maxFeeds
        configuration.maxFeedsPerUser = maxFeedsPerUser
        if let dialect {
            configuration.requiresAPIVersion = false
            configuration.dialectWithoutVersion = dialect.dialect
        }
        configuration.authentication = try tokens.authentication()
        // The log would grow for as long as the server runs.
        configuration.recordsRequests = false
        configuration.idleTimeout = .seconds(300)
        // A client then proves without another request that the row is its own.
        configuration.insertConflictBody = .row
        // The writes of a table have different times: with milliseconds, more than a thousand a second would be ahead of the clock.
        configuration.fractionDigits = 7
        configuration.showsPage = page
        configuration.showsMetrics = metrics
        configuration.logger = Logger(label: "table-server") { [logLevel] _ in
            JSONLogHandler(logLevel: logLevel.level)
        }

        // A write to a pipe without a reader is an error then, and not the end of the process.
        signal(SIGPIPE, SIG_IGN)
        DescriptorLimit.raise()
        let logger = configuration.logger
        let signals = TerminationSignals(duringStart: {
            logger.notice("The server ends because of a signal, before it has started.")
            endProcess(EXIT_SUCCESS)
        })
        let server = try await start(configuration)
        signals.hasStarted()
        if data == nil, database == nil {
            configuration.logger.notice(
                "The rows are in memory and end with the server: --data or --database keeps them.")
        }
        let anonymous = configuration.tables.filter { $0.permissions == .init(.anonymous) }.map(\.name)
        if configuration.authentication != nil, !anonymous.isEmpty {
            configuration.logger.notice(
                "Everyone can read and change \(anonymous.joined(separator: ", ")) without a token: ':authenticated' requires one."
            )
        }
        try? FileHandle.standardOutput.write(contentsOf: Data("\(server.url.absoluteString)\n".utf8))
        await signals.next()
        configuration.logger.notice("The server stops because of a signal.")
        Task {
            await signals.next()
            await server.stop()
        }
        await server.stop(within: .seconds(10))
        endProcess(EXIT_SUCCESS)
    }
}

extension TableServerCommand {
    /// - Throws: `ValidationError` for an error of the configuration.
    private func start(_ configuration: TableServer.Configuration) async throws -> TableServer {
        do {
            return try await TableServer.start(configuration: configuration)
        } catch {
            guard error.code == .configuration else { throw error }
            let message = error.message.replacing(/[Tt]he setting '(\w+)'/) { match in
                option(of: String(match.output.1)) ?? String(match.output.0)
            }
            throw ValidationError(message)
        }
    }

    /// Returns the option of a property of the configuration, which messages of the library name.
    private func option(of property: String) -> String? {
        switch property {
        case "host": "--host"
        case "port": "--port"
        case "pageSize": "--page-size"
        case "maxTop": "--max-top"
        case "maxRequestsPerSecond": "--max-requests"
        case "maxFeeds": "--max-feeds"
        case "maxFeedsPerUser": "--max-feeds-per-user"
        case "maxConnections": "--max-connections"
        case "showsPage": "--page"
        case "authentication": "--secret-file or --key-set"
        case "secret": tokens.secretFile.map { "--secret-file '\($0)'" }
        case "keySet": tokens.keySet.map { "--key-set '\($0)'" }
        default: nil
        }
    }
}

/// The dialect of requests that do not name one.
enum RequestDialect: String, ExpressibleByArgument, CaseIterable {
    case v2, v3

    var dialect: TableServer.Dialect { self == .v2 ? .v2 : .v3 }
}

/// The least level of messages that are written.
enum LogLevel: String, ExpressibleByArgument, CaseIterable {
    case debug, info, notice, warning, error

    var level: Logger.Level {
        switch self {
        case .debug: .debug
        case .info: .info
        case .notice: .notice
        case .warning: .warning
        case .error: .error
        }
    }
}
