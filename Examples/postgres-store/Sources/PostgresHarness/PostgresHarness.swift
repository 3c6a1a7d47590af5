// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import PostgresStore
public import StoreConformance
public import SyncCore
import Synchronization

/// Opens PostgreSQL stores for the suite, on a server that it starts.
public struct PostgresHarness: StoreHarness {
    /// The program that runs in child processes.
    public let child: ChildProgram?

    /// Creates a harness whose child program is the executable at that path.
    public init(childExecutable: String? = nil) {
        child = childExecutable.map { ChildProgram(executable: $0, arguments: ["child", "postgres"]) }
    }

    /// Opens the store whose name is derived from the path.
    public func open(at path: String, tables: [SyncTableDefinition]) throws -> any SyncContextDataSource {
        try PostgresStore(
            connection: try Servers.shared.get().storeConnection, name: Self.name(of: path), tables: tables)
    }

    /// Removes the store's tables.
    public func removeStore(at path: String) {
        guard let connection = try? Servers.shared.get().directConnection else { return }
        try? PostgresStore.remove(connection: connection, name: Self.name(of: path))
    }

    /// No: the data is on the server.
    public var hasFilesAtPath: Bool { false }

    /// Ends the server without a shutdown and starts it again.
    public var crashServer: (@Sendable () throws -> Void)? {
        { try Servers.shared.get().server?.crash() }
    }

    /// The faults of the proxy between the stores and the server.
    public var connectionFaults: (any ConnectionFaults)? { try? Servers.shared.get().proxy }

    /// Returns the end of the path, which differs between stores, with underscores for other characters.
    private static func name(of path: String) -> String {
        String(path.map { $0.isLetter || $0.isNumber ? $0 : "_" }.suffix(50))
    }
}

/// The server of this process and its proxy. A child process uses the server of its parent, without the proxy.
private struct Servers: Sendable {
    static let shared = Result { try Servers() }

    let server: PostgresServer?
    let proxy: PostgresProxy?
    let directConnection: String
    let storeConnection: String

    /// The environment variable that tells a child process where the server is.
    private static let variable = "POSTGRES_STORE_TESTS"

    private init() throws {
        if let directory = ProcessInfo.processInfo.environment[Self.variable] {
            (server, proxy) = (nil, nil)
            directConnection = Self.parameters(directory)
            storeConnection = directConnection
        } else {
            let server = try PostgresServer.shared.get()
            let proxy = try PostgresProxy(server: server.directory)
            directConnection = Self.parameters(server.directory)
            storeConnection = Self.parameters(server.directory, port: PostgresProxy.port)
            (self.server, self.proxy) = (server, proxy)
            setenv(Self.variable, server.directory, 1)
        }
    }

    private static func parameters(_ directory: String, port: Int = 5432) -> String {
        "host='\(directory)' port=\(port) user=postgres dbname=postgres sslmode=disable gssencmode=disable"
    }
}
