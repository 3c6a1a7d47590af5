// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A connection to the server on which a test sends bytes.
final class RawConnection: Sendable {
    private let descriptor: Int32

    init(port: Int) throws {
        #if canImport(Darwin)
            descriptor = socket(AF_INET, SOCK_STREAM, 0)
            var isOn: Int32 = 1
            setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &isOn, socklen_t(MemoryLayout<Int32>.size))
        #else
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        // The error runs `deinit`, which closes the socket.
        guard isConnected else { throw POSIXError(.ECONNREFUSED) }
    }

    deinit { close(descriptor) }

    func send(_ text: String) throws {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { throw POSIXError(.EPIPE) }
            bytes = bytes.dropFirst(count)
        }
    }

    /// Ends this side of the connection: the server reads its end, and can still send.
    func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Returns the next bytes; empty when the server has closed the connection.
    func read() async -> String { await onThread { self.readBlocking() } }

    /// Returns all bytes until the server closes the connection.
    func readToEnd() async -> String {
        await onThread {
            var text = ""
            while case let part = self.readBlocking(), !part.isEmpty { text += part }
            return text
        }
    }

    /// As `read`, but blocks the thread.
    func readBlocking() -> String {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}
