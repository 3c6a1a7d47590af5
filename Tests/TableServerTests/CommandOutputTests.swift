// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import Foundation
    import Subprocess
    import SyncCore
    import TestSupport
    import Testing

    /// What the `table-server` program writes, also when it cannot.
    @Suite
    struct CommandOutputTests {
        /// Returns the words that run the program with its output redirected by a shell, which it replaces.
        private func command(_ redirection: String, _ arguments: [String]) throws -> Arguments {
            let program = try builtProgram("table-server").path
            return Arguments(["-c", redirection + #"; exec "$0" "$@""#, program] + arguments)
        }

        @Test(arguments: ["exec 2>/dev/full", "exec 2> >(exit); wait $!"])
        func `a server whose log cannot be written responds to requests`(_ redirection: String) async throws {
            let arguments = try command(redirection, ["--table", "TodoItem", "--log-level", "debug"])
            let result = try await Subprocess.run(
                .name("bash"), arguments: arguments, input: .none, output: .sequence, error: .discarded
            ) { server in
                var lines = server.standardOutput.strings().makeAsyncIterator()
                let line = try #require(try await lines.next())
                let client = TestClient(try #require(URL(string: line)))
                for _ in 0..<3 { try await #expect(client.list("TodoItem").status == 200) }
                try server.send(signal: .terminate)
            }
            #expect(result.terminationStatus == .exited(0))
        }

        @Test(arguments: ["exec 2>&1 >/dev/full", "exec 2>&1 > >(exit); wait $!"])
        func `a server whose URL cannot be written runs until a signal`(_ redirection: String) async throws {
            let arguments = try command(redirection, ["--table", "TodoItem"])
            let result = try await Subprocess.run(
                .name("bash"), arguments: arguments, input: .none, output: .sequence, error: .discarded
            ) { server in
                var lines = server.standardOutput.strings().makeAsyncIterator()
                let line = try #require(try await lines.next())
                #expect(line.contains("in memory"))
                try server.send(signal: .terminate)
            }
            #expect(result.terminationStatus == .exited(0))
        }

        @Test(arguments: [true, false])
        func `the log says that rows in memory are lost, and that a signal stops the server`(_ inMemory: Bool)
            async throws
        {
            try await withTemporaryDirectory { directory in
                let log = directory.appending(path: "log")
                let data = inMemory ? [] : ["--data", directory.appending(path: "rows.sqlite").path]
                let arguments = try command("exec 2>'\(log.path)'", ["--table", "TodoItem"] + data)
                _ = try await Subprocess.run(
                    .name("bash"), arguments: arguments, input: .none, output: .sequence, error: .discarded
                ) { server in
                    var lines = server.standardOutput.strings().makeAsyncIterator()
                    #expect(try await lines.next() != nil)
                    try server.send(signal: .terminate)
                }
                let text = try String(contentsOf: log, encoding: .utf8)
                #expect(text.contains("in memory") == inMemory)
                #expect(text.contains("because of a signal"))
            }
        }
    }
#endif
