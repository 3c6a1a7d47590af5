// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A server that speaks the tables protocol (version 2), for trying, testing and demonstrating clients.
///
/// ```swift
/// let server = try await TableServer.start(configuration: .init(tables: [.init("TodoItem")]))
/// let client = MyClient(server.url)
/// …
/// await server.stop()
/// ```
///
/// It answers as the Node.js server with its SQLite provider was seen to answer, quirks included. Where it does
/// otherwise:
/// - Integers are exact to 64 bits; there all numbers are doubles.
/// - Objects and arrays in fields are kept, unless ``Configuration/acceptsNestedValues`` is off; there they are a 500.
/// - A `$filter` or `$orderby` that cannot be read is a 400 that says why; there it is a 500. Parameters that begin
///   with `$` and are unknown or given twice are a 400.
/// - String functions work; there they match nothing.
/// - A row has the fields that were sent, no nulls for columns of other rows. A column that no row has counts as null.
/// - A list without `$orderby` comes in the order of insertion; there the order is unspecified.
/// - Comparing values of different types, such as text with a number, is never true, except `ne`.
/// - The `Link` to the next page has the right address; there port and path are missing.
/// - There is no authentication; an answer of 401 is made with ``ServerFault``.
public final class TableServer: Sendable {
    /// Where the server listens, such as `http://127.0.0.1:8080`.
    public let url: URL
    /// The clock that stamps changes.
    public let clock: ServerClock

    let service: TableService
    let log: RequestLog
    let faults: FaultScript
    private let listener: HTTPListener

    private init(url: URL, handler: RequestHandler, listener: HTTPListener) {
        self.url = url
        self.listener = listener
        service = handler.service
        log = handler.log
        faults = handler.faults
        clock = handler.service.settings.clock
    }

    /// Opens the storage, binds the address, and returns when requests are welcome.
    ///
    /// The server runs until ``stop()`` is called.
    ///
    /// - Throws: ``TableServerError`` when the configuration makes no sense, the file cannot be opened, or the
    ///   address cannot be bound.
    public static func start(configuration: Configuration) async throws(TableServerError) -> TableServer {
        try configuration.validate()
        let book = try openBook(configuration)
        let handler = RequestHandler(
            service: TableService(settings: configuration, book: book), log: RequestLog(),
            faults: FaultScript(), stopSignal: StopSignal())
        do {
            let listener = try await HTTPListener(
                host: configuration.host, port: configuration.port, handler: handler,
                keepsConnections: configuration.keepsConnections, logger: configuration.logger)
            guard let url = URL(string: "http://\(configuration.host):\(listener.port)") else {
                await listener.stop()
                throw TableServerError(.binding, "The host '\(configuration.host)' cannot stand in a URL.")
            }
            return TableServer(url: url, handler: handler, listener: listener)
        } catch let error as TableServerError {
            book.close()
            throw error
        } catch {
            book.close()
            let address = "\(configuration.host):\(configuration.port)"
            throw TableServerError(.binding, "Cannot listen on \(address): \(error)", cause: error)
        }
    }

    private static func openBook(_ configuration: Configuration) throws(TableServerError) -> RowStore {
        let journal: RowJournal? =
            switch configuration.storage {
            case .memory: nil
            case .file(let path): try RowJournal(path: path)
            }
        do {
            return try RowStore(tables: configuration.tables, journal: journal)
        } catch {
            throw TableServerError(.storage, "The rows cannot be read: \(error)", cause: error)
        }
    }

    /// Closes all connections at once, as the end of a server's process would, and then the storage.
    ///
    /// A request under way is applied or not, but its answer is lost. To stop again does nothing.
    public func stop() async {
        await listener.stop()
        service.book.close()
    }
}

/// Runs a server while the body runs, and stops it however the body ends.
///
/// - Throws: ``TableServerError`` when the server cannot start, and what the body throws.
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
