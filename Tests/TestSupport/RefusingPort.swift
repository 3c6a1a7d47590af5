// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A TCP port that refuses connections until this object is deallocated.
///
/// The port is bound, so no other server gets it, and nothing listens on it.
package final class RefusingPort: Sendable {
    private let socket: LoopbackSocket

    package init() throws { socket = try LoopbackSocket() }

    package var number: UInt16 { socket.port }

    deinit { close(socket.descriptor) }
}
