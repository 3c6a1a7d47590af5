// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import Foundation
    import SyncCore
    import Testing

    /// The `table-server` executable, as a shell sees it.
    @Suite(.timeLimit(.minutes(1)))
    struct CommandTests {
        private func run(_ arguments: [String]) throws -> (
            process: Process, output: FileHandle, errors: FileHandle
        ) {
            let (output, errors) = (Pipe(), Pipe())
            let process = Process()
            // Executables are built into the folder of the test runner.
            process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
                .deletingLastPathComponent().appending(path: "table-server")
            process.arguments = arguments
            process.standardOutput = output
            process.standardError = errors
            try process.run()
            return (process, output.fileHandleForReading, errors.fileHandleForReading)
        }

        @Test(arguments: [SIGINT, SIGTERM])
        func `it prints its URL at once, keeps rows in its file, and ends when told`(_ signal: Int32)
            async throws
        {
            try await withTemporaryDirectory { directory in
                let file = directory.appending(path: "rows.sqlite").path
                for statuses in [[201, 201], [409, 409]] {
                    let (process, output, _) = try run([
                        "--table", "TodoItem:soft", "--table", "Other:hard", "--data", file,
                    ])
                    let line = String(decoding: output.availableData, as: UTF8.self)
                    #expect(line.wholeMatch(of: /http:\/\/127\.0\.0\.1:\d+\n/) != nil)
                    let url = try #require(URL(string: line.trimmingCharacters(in: .newlines)))
                    let client = TestClient(url)
                    #expect(try await client.insert(["id": "a"]).status == statuses[0])
                    #expect(try await client.insert(["id": "a"], in: "Other").status == statuses[1])
                    kill(process.processIdentifier, signal)
                    process.waitUntilExit()
                    #expect(process.terminationReason == .exit)
                    #expect(process.terminationStatus == 0)
                    #expect(try output.readToEnd() ?? Data() == Data())
                }
            }
        }

        @Test(arguments: [
            (["--table", "a:x"], "a:x"), ([], "--table"), (["--table", "no name"], "no name"),
            (["--table", "a", "--page-size", "0"], "pageSize"),
            (["--table", "a", "--data", "/nosuch/a"], "/nosuch/a"),
        ])
        func `arguments that make no sense end it with a sentence`(_ arguments: [String], _ word: String)
            throws
        {
            let (process, output, errors) = try run(arguments)
            let message = String(decoding: try errors.readToEnd() ?? Data(), as: UTF8.self)
            process.waitUntilExit()
            #expect(process.terminationStatus != 0)
            #expect(message.contains(word))
            #expect(try output.readToEnd() ?? Data() == Data())
        }
    }
#endif
