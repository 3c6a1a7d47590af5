// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import Foundation
import Logging
import SyncCore
import Synchronization

/// A server for the tables protocol, for tests, for trying and for a team.
///
/// ```swift
/// let server = try await TableServer.start(configuration: .init(tables: [.init("TodoItem")]))
/// let client = MyClient(server.url)
/// …
/// await server.stop()
/// ```
///
/// Each request chooses its dialect: see ``Dialect``. In dialect v3 the server behaves as the Datasync toolkit's server.
/// In the older ones it behaves as the Azure Mobile Apps server for Node.js with its SQLite provider, including its quirks,
/// with these differences:
/// - Integers are exact to 64 bits. On the modelled server all numbers are doubles.
/// - Fields may contain objects and arrays, unless ``Configuration/acceptsNestedValues`` is off. On the modelled server
///   they are an error with status 500.
/// - An invalid `$filter` or `$orderby` is an error with status 400 and a reason, instead of 500. Parameters that begin
///   with `$` and are unknown or repeated are an error with status 400.
/// - String functions work. On the modelled server they match nothing.
/// - A row has only the fields that were sent, without nulls for columns of other rows. A column that no row has is
///   null.
/// - A list without `$orderby` is in the order of insertion. On the modelled server the order is unspecified.
/// - A field with the name of a system property of any dialect is an error with status 400.
/// - A comparison of values of different types, such as text and a number, is never true, except `ne`.
/// - The `Link` to the next page is complete. On the modelled server, port and path are missing.
/// - `GET /health/live` answers while the process can answer, and `GET /health/ready` while the rows can be read.
/// - Without ``Configuration/authentication``, tokens are ignored. A test simulates status 401 with ``ServerFault``.
public final class TableServer: Sendable {
    /// The server's URL, such as `http://127.0.0.1:8080`.
    public let url: URL
    /// The clock for `createdAt` and `updatedAt`.
    public let clock: ServerClock

    let service: TableService
    let log: RequestLog
    let faults: FaultScript
    private let listener: HTTPListener
    private let stopping = Mutex<Task<Void, Never>?>(nil)

    private init(url: URL, handler: RequestHandler, listener: HTTPListener) {
        self.url = url
        self.listener = listener
        service = handler.service
        log = handler.log
        faults = handler.faults
        clock = handler.service.settings.clock
    }

    /// Opens the storage, binds the address, and returns when the server accepts requests.
    ///
    /// The server runs until ``stop()`` is called.
    ///
    /// - Throws: ``TableServerError`` when the configuration is invalid, the file cannot be opened, or the address
    ///   cannot be bound.
    public static func start(configuration: Configuration) async throws(TableServerError) -> TableServer {
        try configuration.validate()
        let verifier: TokenVerifier? =
            if let authentication = configuration.authentication {
                try await TokenVerifier(
                    authentication, clock: configuration.clock, logger: configuration.logger)
            } else { nil }
        let storage = try await openStorage(configuration)
        do { try await validateColumns(of: configuration.tables, in: storage) } catch {
            storage.close()
            throw error
        }
        await warnAboutHiddenRows(in: storage, configuration)
        await reportChangesAheadOfClock(in: storage, configuration)
        let handler = RequestHandler(
            service: TableService(
                settings: configuration, storage: storage, verifier: verifier,
                limit: configuration.maxRequestsPerSecond.map(RequestLimit.init)),
            log: RequestLog(isRecording: configuration.recordsRequests),
            faults: FaultScript(), stopSignal: StopSignal())
        do {
            let listener = try await HTTPListener(
                configuration: configuration, handler: handler)
            let host = configuration.host.contains(":") ? "[\(configuration.host)]" : configuration.host
            guard let url = URL(string: "http://\(host):\(listener.port)") else {
                await listener.stop()
                throw TableServerError(.binding, "The host '\(configuration.host)' is not valid in a URL.")
            }
            return TableServer(url: url, handler: handler, listener: listener)
        } catch let error as TableServerError {
            storage.close()
            throw error
        } catch {
            storage.close()
            let address = "\(configuration.host):\(configuration.port)"
            throw TableServerError(
                .binding, "The server cannot listen on \(address): \(HTTPListener.reason(of: error))",
                cause: error)
        }
    }

    private static func openStorage(
        _ configuration: Configuration
    ) async throws(TableServerError) -> any RowStorage {
        let (tables, settings) = (configuration.tables, RowStampSettings(configuration))
        let path: String?
        switch configuration.storage.place {
        case .memory: path = nil
        case .file(let file): path = file
        case .database(let database): return try await database.open(tables: tables, settings: settings)
        }
        // It can wait for another process, or convert many rows, which would block a thread of tasks.
        return try await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    returning: Result { () throws(TableServerError) in
                        try SQLiteRowStorage(
                            path: path, tables: tables, settings: settings,
                            limits: configuration.sqliteLimits, logger: configuration.logger)
                    })
            }
        }.get()
    }

    /// Logs the tables whose rows no request can see, because they were stored when the table was per-user, or was not.
    private static func warnAboutHiddenRows(in storage: any RowStorage, _ configuration: Configuration) async
    {
        for table in configuration.tables {
            let hasSharedRows =
                (try? await storage.read(RowScope(table: table)) { try $0.changeMark() }) ?? nil != nil
            if table.isPerUser, hasSharedRows {
                configuration.logger.warning(
                    "Rows of '\(table.name)' are hidden: they belong to no user, and the table is per-user now."
                )
            } else if !table.isPerUser, !hasSharedRows, await hasRows(table, in: storage) {
                configuration.logger.warning(
                    "The rows of '\(table.name)' are hidden: they belong to users, and the table is not per-user now."
                )
            }
        }
    }

    /// Logs that new changes get later times than the clock shows: it is behind, or that of another process was ahead.
    private static func reportChangesAheadOfClock(
        in storage: any RowStorage, _ configuration: Configuration
    ) async {
        let (changes, limit) = (
            try? await storage.lastChanges(), configuration.clock.now.advanced(by: .seconds(10))
        )
        for (key, text) in (changes ?? [:]).sorted(by: { $0.key < $1.key }) {
            guard let last = Timestamp(storedText: text), limit.isEarlier(than: last) else { continue }
            configuration.logger.error(
                "The last change is ahead of the clock: later ones get times after it.",
                metadata: ["table": "\(key)", "time": "\(text)"])
        }
    }

    /// Whether any user has rows in the table.
    private static func hasRows(_ table: Table, in storage: any RowStorage) async -> Bool {
        let rows = try? await storage.read(RowScope(table: table, owner: nil)) { rows in
            try rows.rows(.all, offset: 0, limit: 1)
        }
        return rows?.isEmpty == false
    }

    /// Stops accepting connections, and closes the storage when all requests that have arrived are answered.
    ///
    /// - Parameter limit: after this time, the connections that are left are closed, as by ``stop()``.
    public func stop(within limit: Duration) async {
        service.storage.changes.close()
        await listener.drain(within: limit)
        await stop()
    }

    /// Closes all connections immediately, as when the server's process ends, and then the storage.
    ///
    /// A request in progress may or may not be applied; its response is lost. Calling `stop()` again, also at the same time, has
    /// no other effect: each call returns when the storage is closed.
    public func stop() async {
        let stop = stopping.withLock { stopping in
            let stop = stopping ?? Task { await stopNow() }
            stopping = stop
            return stop
        }
        await stop.value
    }

    private func stopNow() async {
        // An interrupted request would otherwise be answered with an error.
        listener.closeConnections()
        service.storage.changes.close()
        service.storage.interrupt()
        await listener.stop()
        service.storage.close()
    }
}

/// Runs a server during the body, and stops it when the body returns or throws.
///
/// - Throws: ``TableServerError`` when the server cannot start; otherwise the error of the body.
public func withTableServer<Result>(
    _ configuration: TableServer.Configuration, _ body: (TableServer) async throws -> Result
) async throws -> Result {
    let server = try await TableServer.start(configuration: configuration)
    do {
        let result = try await body(server)
        await server.stop()
        return result
    } catch {
        await server.stop()
        throw error
    }
}
