// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import TestSupport

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A TCP server on its own port that sends exactly the bytes of a test, whether or not they are valid HTTP.
final class RawHTTPServer: Sendable {
    /// A step of the response to one request. The server closes the connection after the last step unless it is
    /// `.keepOpen`.
    enum Step: Sendable {
        case send(String)
        case sendBytes([UInt8])
        /// Emits `Event.signal` with this number.
        case signal(Int)
        /// Waits until the client closes the connection.
        case waitForDisconnect
        /// Waits for the next request on the same connection.
        case keepOpen
    }

    /// A request as received.
    struct Request: Sendable {
        /// The lines of the head, beginning with the request line.
        let lines: [String]
        let body: [UInt8]
        /// The number of the connection, counted from 1.
        let connection: Int

        func header(_ name: String) -> String? {
            let prefix = name.lowercased() + ":"
            return lines.first { $0.lowercased().hasPrefix(prefix) }
                .map { $0.dropFirst(prefix.count).trimmingCharacters(in: .whitespaces) }
        }
    }

    private struct State {
        var requests: [Request] = []
        var connections: [Int32] = []
        var isStopped = false
    }

    /// An event that a test can wait for.
    enum Event: Equatable, Sendable { case request, signal(Int), disconnect }

    let port: UInt16
    let events: AsyncStream<Event>
    private let listener: Int32
    private let state = Mutex(State())
    private let emit: AsyncStream<Event>.Continuation
    private let greeting: [UInt8]
    private let respond: @Sendable (Request) -> [Step]

    /// Starts the server.
    ///
    /// - Parameters:
    ///   - greeting: bytes that the server sends over each new connection before it reads a request.
    ///   - respond: returns the steps of the response to a request.
    init(greeting: [UInt8] = [], respond: @escaping @Sendable (Request) -> [Step]) throws {
        self.greeting = greeting
        self.respond = respond
        (events, emit) = AsyncStream.makeStream(of: Event.self)
        let socket = try LoopbackSocket()
        guard listen(socket.descriptor, 16) == 0 else { throw POSIXError(.EADDRNOTAVAIL) }
        (listener, port) = (socket.descriptor, socket.port)
        Thread.detachNewThread { self.acceptConnections() }
    }

    var url: URL { URL(string: "http://127.0.0.1:\(port)")! }
    var requests: [Request] { state.withLock { $0.requests } }

    func stop() {
        let running = state.withLock { state -> [Int32]? in
            defer { state.isStopped = true }
            return state.isStopped ? nil : state.connections
        }
        // After the first call, the descriptors may be those of others.
        guard let connections = running else { return }
        for connection in connections { shutdown(connection, Int32(SHUT_RDWR)) }
        shutdown(listener, Int32(SHUT_RDWR))
        emit.finish()
    }

    /// Waits for an event, which may already have happened. Discards the events before it.
    func wait(for event: Event) async {
        for await next in events where next == event { return }
    }

    private func acceptConnections() {
        while true {
            let connection = accept(listener, nil, nil)
            guard connection >= 0 else { break }
            #if canImport(Darwin)
                var isOn: Int32 = 1
                setsockopt(
                    connection, SOL_SOCKET, SO_NOSIGPIPE, &isOn, socklen_t(MemoryLayout<Int32>.size))
            #endif
            let (number, isStopped) = state.withLock { state in
                state.connections.append(connection)
                return (state.connections.count, state.isStopped)
            }
            if isStopped {
                close(connection)
                break
            }
            Thread.detachNewThread { self.serve(connection, number: number) }
        }
        close(listener)
    }

    private func serve(_ connection: Int32, number: Int) {
        var buffer: [UInt8] = []
        _ = send(connection, greeting)
        serving: while let request = read(connection, number: number, buffer: &buffer) {
            state.withLock { $0.requests.append(request) }
            emit.yield(.request)
            for step in respond(request) {
                switch step {
                case .send(let text): guard send(connection, Array(text.utf8)) else { break serving }
                case .sendBytes(let bytes): guard send(connection, bytes) else { break serving }
                case .signal(let number): emit.yield(.signal(number))
                case .waitForDisconnect:
                    while receive(connection, into: &buffer) {}
                    emit.yield(.disconnect)
                    break serving
                case .keepOpen: continue serving
                }
            }
            break
        }
        shutdown(connection, Int32(SHUT_RDWR))
        state.withLock { $0.connections.removeAll { $0 == connection } }
        close(connection)
    }

    private func read(_ connection: Int32, number: Int, buffer: inout [UInt8]) -> Request? {
        let separator = Array("\r\n\r\n".utf8)
        var end = buffer.firstRange(of: separator)
        while end == nil {
            guard receive(connection, into: &buffer) else { return nil }
            end = buffer.firstRange(of: separator)
        }
        guard let end else { return nil }
        let head = String(decoding: buffer[..<end.lowerBound], as: UTF8.self)
        buffer.removeSubrange(..<end.upperBound)
        let lines = head.components(separatedBy: "\r\n")
        let length =
            Request(lines: lines, body: [], connection: number).header("Content-Length")
            .flatMap { Int($0) } ?? 0
        while buffer.count < length { guard receive(connection, into: &buffer) else { return nil } }
        defer { buffer.removeFirst(length) }
        return Request(lines: lines, body: Array(buffer.prefix(length)), connection: number)
    }

    private func receive(_ connection: Int32, into buffer: inout [UInt8]) -> Bool {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        let count = recv(connection, &chunk, chunk.count, 0)
        guard count > 0 else { return false }
        buffer.append(contentsOf: chunk.prefix(count))
        return true
    }

    private func send(_ connection: Int32, _ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            #if canImport(Darwin)
                let flags: Int32 = 0
            #else
                let flags = Int32(MSG_NOSIGNAL)
            #endif
            let count = rest.withUnsafeBytes { sendBytes(connection, $0, flags) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    private func sendBytes(_ connection: Int32, _ bytes: UnsafeRawBufferPointer, _ flags: Int32) -> Int {
        #if canImport(Darwin)
            Darwin.send(connection, bytes.baseAddress, bytes.count, flags)
        #else
            Glibc.send(connection, bytes.baseAddress, bytes.count, flags)
        #endif
    }
}

extension RawHTTPServer.Step {
    /// A complete response with a content length.
    static func response(_ status: String, headers: [String] = [], body: String = "") -> Self {
        let lines = ["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)"] + headers
        return .send(lines.joined(separator: "\r\n") + "\r\n\r\n" + body)
    }
}
