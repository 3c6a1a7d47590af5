// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import HummingbirdCore
import Logging
import NIOCore

/// A bound address and the connections accepted on it.
struct HTTPListener: Sendable {
    /// The port, known also when the system chose it.
    let port: Int
    private let server: Server<HTTP1Channel>
    private let stopSignal: StopSignal
    private let running: Task<Void, any Error>

    /// Binds the address and returns when connections are welcome.
    init(
        host: String, port: Int, handler: RequestHandler, keepsConnections: Bool, logger: Logger
    ) async throws {
        let connections = Connections(handler: handler, keepsOpen: keepsConnections)
        let (ports, continuation) = AsyncThrowingStream.makeStream(of: Int.self)
        let server = Server(
            childChannelSetup: HTTP1Channel(responder: connections.respond),
            configuration: ServerConfiguration(address: .hostname(host, port: port)),
            onServerRunning: { channel in continuation.yield(channel.localAddress?.port ?? port) },
            eventLoopGroup: EventLoopGroupProvider.singleton.eventLoopGroup,
            logger: logger)
        let running = Task {
            // What ends the run before there is a port is why the address cannot be bound.
            do { try await server.run() } catch {
                continuation.finish(throwing: error)
                throw error
            }
            continuation.finish()
        }
        var iterator = ports.makeAsyncIterator()
        guard let port = try await iterator.next() else { throw CancellationError() }
        self.port = port
        self.server = server
        stopSignal = handler.stopSignal
        self.running = running
    }

    /// Closes all connections and the address, and returns when the last request has ended.
    func stop() async {
        stopSignal.stop()
        // The server would end a cancelled run with connections still to be taken over, which is an error there.
        try? await server.shutdownGracefully()
        _ = await running.result
    }
}
