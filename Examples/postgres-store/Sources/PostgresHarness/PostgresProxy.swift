// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import Synchronization

/// A proxy between stores and the server that injects the faults of connections, on a Unix socket.
final class PostgresProxy: ConnectionFaults {
    /// The port of the proxy's socket, which is in the directory of the server's.
    static let port = 5433

    private let server: String
    private let listener: Int32
    private let state = Mutex(State())

    private struct State {
        /// Both ends of each connection.
        var sockets: Set<Int32> = []
        var acceptsConnections = true
        var nextCommit: CommitFault?
        var injectedCount = 0
    }

    /// - Parameter server: the directory of the server's socket.
    init(server: String) throws {
        self.server = server
        listener = try LocalSocket.listen(at: LocalSocket.path(in: server, port: Self.port))
        let thread = Thread { [self] in acceptConnections() }
        thread.start()
    }

    func closeConnections() {
        state.withLock { state in
            for socket in state.sockets { LocalSocket.shutDown(socket) }
            state.injectedCount += state.sockets.count / 2
        }
    }

    func setAcceptsConnections(_ accepts: Bool) { state.withLock { $0.acceptsConnections = accepts } }

    func failNextCommit(_ fault: CommitFault) { state.withLock { $0.nextCommit = fault } }

    var injectedCount: Int { state.withLock { $0.injectedCount } }

    /// Returns whether a new connection is accepted; counts a refusal.
    private func acceptsConnection() -> Bool {
        state.withLock { state in
            if !state.acceptsConnections { state.injectedCount += 1 }
            return state.acceptsConnections
        }
    }

    private func acceptConnections() {
        while let client = LocalSocket.accept(listener) {
            guard acceptsConnection(),
                let server = LocalSocket.connect(to: LocalSocket.path(in: server))
            else {
                LocalSocket.close(client)
                continue
            }
            state.withLock { $0.sockets.formUnion([client, server]) }
            let group = DispatchGroup()
            for direction in [Direction.requests, .responses] {
                group.enter()
                let thread = Thread { [self] in
                    switch direction {
                    case .requests: forwardRequests(from: client, to: server)
                    case .responses: forwardResponses(from: server, to: client)
                    }
                    LocalSocket.shutDown(client)
                    LocalSocket.shutDown(server)
                    group.leave()
                }
                thread.start()
            }
            group.notify(queue: .global()) { [self] in
                state.withLock { $0.sockets.subtract([client, server]) }
                LocalSocket.close(client)
                LocalSocket.close(server)
            }
        }
    }

    private enum Direction { case requests, responses }

    /// Forwards the messages of a store one by one, and injects the fault of a commit.
    private func forwardRequests(from client: Int32, to server: Int32) {
        // The first message has no type.
        var typeLength = 0
        while var message = LocalSocket.readMessage(client, typeLength: typeLength) {
            typeLength = 1
            if message == Self.query("COMMIT") {
                switch state.withLock({ state in
                    defer { state.nextCommit = nil }
                    if state.nextCommit != nil { state.injectedCount += 1 }
                    return state.nextCommit
                }) {
                case .lostBeforeCommit: return
                case .lostResponse:
                    // The connection ends before the server commits. The store must wait for that.
                    _ = LocalSocket.write(Self.query("SELECT pg_sleep(0.3); COMMIT"), to: server)
                    return
                case .rolledBack: message = Self.query("ROLLBACK")
                case nil: break
                }
            }
            guard LocalSocket.write(message, to: server) else { return }
        }
    }

    private func forwardResponses(from server: Int32, to client: Int32) {
        while let bytes = LocalSocket.read(server) {
            guard LocalSocket.write(bytes, to: client) else { return }
        }
    }

    /// Returns the message of the protocol that runs a statement.
    private static func query(_ statement: String) -> [UInt8] {
        let text = Array(statement.utf8) + [0]
        return [UInt8(ascii: "Q"), 0, 0, 0, UInt8(text.count + 4)] + text
    }
}
