// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A TCP socket bound to a free port of the loopback interface. It does not listen before ``listen()``, and its owner closes
/// it.
package struct LoopbackSocket: Sendable {
    package let descriptor: Int32
    package let port: UInt16

    package init() throws {
        #if canImport(Darwin)
            let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #else
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isBound else { throw POSIXError(.EADDRNOTAVAIL) }
        self.descriptor = descriptor
        port = UInt16(bigEndian: address.sin_port)
    }
    package func listen() throws {
        #if canImport(Darwin)
            let result = Darwin.listen(descriptor, 1)
        #else
            let result = Glibc.listen(descriptor, 1)
        #endif
        guard result == 0 else { throw POSIXError(.EADDRINUSE) }
    }

    /// Waits for a connection, and returns its descriptor, which the caller closes.
    package func connection() async -> Int32 {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { [descriptor] in
                continuation.resume(returning: accept(descriptor, nil, nil))
            }
        }
    }
}
