// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A connection that has sent one request, and waits for the server to close it.
final class IdleConnection: Sendable {
    private let descriptor: Int32

    /// Connects, and returns when the server has answered a request.
    init(port: Int) throws {
        #if canImport(Darwin)
            descriptor = socket(AF_INET, SOCK_STREAM, 0)
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
        let request = Array("GET /health/live HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".utf8)
        var response = [UInt8](repeating: 0, count: 4096)
        guard isConnected, write(descriptor, request, request.count) == request.count,
            read(descriptor, &response, response.count) > 0
        else { throw POSIXError(.ECONNREFUSED) }
    }

    deinit { close(descriptor) }

    /// Returns when the server has closed the connection.
    func waitForEnd() async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { [self] in
                var bytes = [UInt8](repeating: 0, count: 4096)
                while read(descriptor, &bytes, bytes.count) > 0 {}
                continuation.resume()
            }
        }
    }
}
