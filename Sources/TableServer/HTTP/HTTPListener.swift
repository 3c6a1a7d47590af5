// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix

/// A bound address with its connections.
struct HTTPListener: Sendable {
    /// The bound port, also when the system chose it.
    let port: Int
    private let server: Server<HTTPConnections>
    private let stopSignal: StopSignal
    private let running: Task<Void, any Error>

    /// Binds the address and returns when the server accepts connections.
    init(configuration: TableServer.Configuration, handler: RequestHandler) async throws {
        let (host, port) = (configuration.host, configuration.port)
        let connections = ConnectionHandler(handler: handler, keepsAlive: configuration.keepsConnections)
        let (ports, continuation) = AsyncThrowingStream.makeStream(of: Int.self)
        let server = Server(
            childChannelSetup: HTTPConnections(
                http: HTTP1Channel(
                    responder: connections.respond,
                    configuration: HTTP1Channel.Configuration(
                        idleTimeout: configuration.idleTimeout.map { TimeAmount($0) })),
                stopSignal: handler.stopSignal),
            configuration: ServerConfiguration(
                address: .hostname(host, port: port),
                availableConnectionsDelegate: MaximumAvailableConnections(DescriptorLimit.connections)),
            onServerRunning: { channel in continuation.yield(channel.localAddress?.port ?? port) },
            // The framework's own choice on iOS has no option for the number of unsent bytes.
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            logger: configuration.logger)
        let running = Task {
            // An error before the port is known is the reason why the address cannot be bound.
            do { try await server.run() } catch {
                continuation.finish(throwing: error)
                throw error
            }
            continuation.finish()
        }
        // In a task that is not cancelled: a server that is ended while it binds the address can crash in the server library.
        let bound = try await Task {
            var iterator = ports.makeAsyncIterator()
            return try await iterator.next()
        }.value
        guard let port = bound, !Task.isCancelled else {
            handler.stopSignal.stop()
            try? await server.shutdownGracefully()
            _ = await running.result
            throw CancellationError()
        }
        self.port = port
        self.server = server
        stopSignal = handler.stopSignal
        self.running = running
    }

    /// Returns why an address cannot be bound, as the end of a sentence.
    static func reason(of error: any Error) -> String {
        switch (error as? IOError)?.errnoCode {
        case EADDRINUSE: "the port is in use."
        case EADDRNOTAVAIL: "this machine does not have the address."
        case EACCES: "the user of this process may not use the port."
        case _ where error is SocketAddressError.UnknownHost: "the address of the host is unknown."
        case _ where error is CancellationError: "the task was cancelled."
        default: "\(error)"
        }
    }

    /// Closes the listening socket and idle connections at once, and each other connection after the response to its request;
    /// after the time limit all of them.
    func drain(within limit: Duration) async {
        // The limit also holds in a task that was cancelled.
        let timer = Task {
            do { try await Task.sleep(for: limit) } catch { return }
            closeConnections()
        }
        // It cannot be cancelled, but it ends when the connections are closed.
        try? await server.shutdownGracefully()
        timer.cancel()
    }

    /// Closes all connections, and each later one with its first request.
    func closeConnections() { stopSignal.stop() }

    /// Closes all connections and the listening socket, and returns when the last request has ended.
    func stop() async {
        closeConnections()
        // Cancelling the run instead is an error in the server library while accepted connections wait for a handler.
        try? await server.shutdownGracefully()
        _ = await running.result
    }
}

extension SocketAddress {
    /// Whether only this machine reaches the address, also as an address of IPv4 in one of IPv6.
    var isLoopback: Bool {
        guard let address = ipAddress else { return false }
        return address == "::1" || ["127.", "::ffff:127."].contains { address.hasPrefix($0) }
    }
}
