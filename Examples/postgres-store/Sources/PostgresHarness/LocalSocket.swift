// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Unix sockets with blocking calls.
enum LocalSocket {
    /// Returns the path of PostgreSQL's socket in a directory.
    static func path(in directory: String, port: Int = 5432) -> String { "\(directory)/.s.PGSQL.\(port)" }

    struct CannotListen: Error { let path: String }

    static func listen(at path: String) throws -> Int32 {
        let socket = open()
        let status = withAddress(path) { address, length in bind(socket, address, length) }
        guard status == 0, Self.listen(socket) == 0 else { throw CannotListen(path: path) }
        return socket
    }

    static func accept(_ listener: Int32) -> Int32? {
        let socket = acceptConnection(listener)
        return socket < 0 ? nil : socket
    }

    static func connect(to path: String) -> Int32? {
        let socket = open()
        let status = withAddress(path) { address, length in connectSocket(socket, address, length) }
        if status == 0 { return socket }
        close(socket)
        return nil
    }

    /// Ends the connection in both directions.
    static func shutDown(_ socket: Int32) { _ = shutdown(socket, Int32(SHUT_RDWR)) }

    static func close(_ socket: Int32) { _ = closeDescriptor(socket) }

    /// Returns some bytes, or `nil` at the end of the connection.
    static func read(_ socket: Int32, limit: Int = 65_536) -> [UInt8]? {
        let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            count = max(0, recv(socket, buffer.baseAddress, limit, 0))
        }
        return bytes.isEmpty ? nil : bytes
    }

    /// Returns a message of PostgreSQL's protocol: its type, if it has one, its length and its contents.
    static func readMessage(_ socket: Int32, typeLength: Int) -> [UInt8]? {
        guard var message = read(exactly: typeLength + 4, from: socket) else { return nil }
        let length = message.suffix(4).reduce(0) { $0 << 8 | Int($1) }
        guard let contents = read(exactly: length - 4, from: socket) else { return nil }
        message += contents
        return message
    }

    private static func read(exactly count: Int, from socket: Int32) -> [UInt8]? {
        var bytes: [UInt8] = []
        while bytes.count < count {
            guard let part = read(socket, limit: min(count - bytes.count, 1 << 20)) else { return nil }
            bytes += part
        }
        return bytes
    }

    static func write(_ bytes: [UInt8], to socket: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(socket, $0.baseAddress, $0.count, noSignal) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    #if canImport(Darwin)
        private static let noSignal: Int32 = 0
    #else
        private static let noSignal = Int32(MSG_NOSIGNAL)
    #endif

    private static func open() -> Int32 {
        #if canImport(Darwin)
            let descriptor = socket(AF_UNIX, SOCK_STREAM, 0)
            var isOn: Int32 = 1
            setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &isOn, socklen_t(MemoryLayout<Int32>.size))
        #else
            let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return descriptor
    }

    private static func withAddress(
        _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let capacity = MemoryLayout.size(ofValue: address.sun_path)
        guard path.utf8.count < capacity else { return -1 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}

private func connectSocket(_ socket: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Int32
{
    connect(socket, address, length)
}

private func acceptConnection(_ listener: Int32) -> Int32 { accept(listener, nil, nil) }

private func closeDescriptor(_ descriptor: Int32) -> Int32 { close(descriptor) }

extension LocalSocket {
    fileprivate static func listen(_ socket: Int32) -> Int32 { listenOn(socket) }
}

private func listenOn(_ socket: Int32) -> Int32 { listen(socket, 64) }
