// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import SyncCore

/// The options of every command that uses the list.
struct GlobalOptions: ParsableArguments {
    @Option(
        help: "The store of the list: sqlite, lmdb, or memory, which loses the list when the command ends.")
    var store = StoreChoice.sqlite

    @Option(
        name: .customLong("data"),
        help: ArgumentHelp(
            "The directory of the store's file, todo.sqlite or todo.lmdb.", valueName: "dir"))
    var dataPath = "~/.todo-sync"

    @Option(
        help: ArgumentHelp(
            "The server's address, http or https. (default: http://127.0.0.1:\(Serve.defaultPort))",
            valueName: "url"))
    var server: ServerURL?

    @Flag(
        name: .customLong("insecure-http"),
        help:
            "Allow plain HTTP to other hosts. Others on the network can then read and change the data."
    )
    var allowsInsecureHTTP = false

    /// Opens the list, runs the body, and closes the list.
    ///
    /// - Throws: ``Failure`` with a message for the user.
    func withTodoApp(_ body: (TodoApp) async throws -> Void) async throws {
        guard let server = server ?? .local else {
            throw Failure("The server's address is missing. Set it with --server.")
        }
        if store == .memory {
            Console.warn("The memory store loses all items when this command ends.")
        }
        let app = try openApp(at: server)
        do {
            try await body(app)
        } catch {
            let failure = await app.userFacingError(for: error)
            try? await app.context.close()
            throw failure
        }
        try await app.context.close()
    }

    private func openApp(at server: ServerURL) throws -> TodoApp {
        let directory = try DataDirectory(path: dataPath)
        do {
            let context = SyncContext(
                client: SyncClient(
                    url: server.url, transport: makeTransport(allowsInsecureHTTP: allowsInsecureHTTP),
                    installationID: try directory.installationID()),
                dataSource: try store.open(in: directory.url))
            let storeName = "\(store.rawValue) (\(store.location(in: directory.url)))"
            return TodoApp(
                context: context, console: .terminal, storeName: storeName,
                allowsInsecureHTTP: allowsInsecureHTTP)
        } catch let error as StoreError where error.code == .alreadyOpen && store == .lmdb {
            throw Failure(
                """
                The store \(store.location(in: directory.url)) is open in another program. Wait until that program \
                ends. Only one command at a time can use an LMDB store; several can use --store sqlite.
                """)
        } catch let error as StoreError {
            throw Failure(
                "The store \(store.location(in: directory.url)) cannot be opened. \(error.message)")
        }
    }
}
