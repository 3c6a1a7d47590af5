// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import SyncCore

/// The options of every command that works on the list.
struct GlobalOptions: ParsableArguments {
    @Option(
        help: "What keeps the list: sqlite, lmdb, or memory, which forgets it when the command ends.")
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
            "Allow plain HTTP to other hosts than this machine. Others on the network can then read and change it."
    )
    var allowsInsecureHTTP = false

    /// Opens the list, hands it to the body, and closes it again.
    ///
    /// - Throws: ``Failure`` with a sentence for whatever goes wrong.
    func withTodoApp(_ body: (TodoApp) async throws -> Void) async throws {
        guard let server = server ?? .local else { throw Failure("There is no server address.") }
        if store == .memory {
            Console.warn("The memory store forgets everything when this command ends.")
        }
        let app = try openApp(at: server)
        do {
            try await body(app)
        } catch {
            let failure = await app.explained(error)
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
            let storeName = "\(store.rawValue) (\(store.place(in: directory.url)))"
            return TodoApp(context: context, console: .terminal, storeName: storeName)
        } catch let error as StoreError where error.code == .alreadyOpen && store == .lmdb {
            throw Failure(
                """
                The store \(store.place(in: directory.url)) is open in another program. Wait until that ends. Only one \
                command at a time can use an LMDB store; with --store sqlite, several can.
                """)
        } catch let error as StoreError {
            throw Failure(
                "The store \(store.place(in: directory.url)) cannot be opened. \(error.message)")
        }
    }
}
