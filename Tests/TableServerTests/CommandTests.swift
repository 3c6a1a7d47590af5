// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import Foundation
    import Subprocess
    import SyncCore
    import TestSupport
    import Testing

    @testable import table_server

    /// The `table-server` program as a process.
    @Suite
    struct CommandTests {
        /// The program, which is built into the folder of the test runner, and its arguments.
        private func command(_ arguments: [String]) throws -> Arguments {
            Arguments([try builtProgram("table-server").path] + arguments)
        }

        @Test(arguments: [Signal.interrupt, .terminate])
        func `the program prints its URL, stores rows in its file, and ends on a signal`(_ signal: Signal)
            async throws
        {
            try await withTemporaryDirectory { directory in
                let file = directory.appending(path: "rows.sqlite").path
                for statuses in [[201, 201], [409, 409]] {
                    let arguments = try command([
                        "--table", "TodoItem:soft", "--table", "Other:hard", "--data", file,
                    ])
                    let result = try await Subprocess.run(
                        .name("env"), arguments: arguments, input: .none, output: .sequence,
                        error: .discarded
                    ) { server in
                        var lines = server.standardOutput.strings().makeAsyncIterator()
                        let line = try #require(try await lines.next())
                        #expect(line.wholeMatch(of: /http:\/\/127\.0\.0\.1:\d+/) != nil)
                        let client = TestClient(try #require(URL(string: line)))
                        let reply = try await client.insert(["id": "a"])
                        #expect(reply.status == statuses[0])
                        // Also in the response to a repeated insert.
                        #expect(reply["version"] != nil)
                        // The writes of a table have different times, with a tenth of a microsecond between them.
                        let time = try #require(reply["updatedAt"]?.textValue)
                        #expect(time.wholeMatch(of: /.*:\d\d\.\d{7}Z/) != nil)
                        #expect(try await client.insert(["id": "a"], in: "Other").status == statuses[1])
                        try server.send(signal: signal)
                        #expect(try await lines.next() == nil)
                    }
                    #expect(result.terminationStatus == .exited(0))
                }
            }
        }

        @Test func `the program verifies tokens for tables of users`() async throws {
            try await withTemporaryDirectory { directory in
                let secret = directory.appending(path: "secret")
                try (Tokens.secret + Data("\n".utf8)).write(to: secret)
                let keySet = directory.appending(path: "keys.json")
                try Tokens.keySet.write(to: keySet)
                let arguments = try command([
                    "--table", "TodoItem:hard:per-user", "--secret-file", secret.path, "--key-set",
                    keySet.path,
                    "--issuer", "https://issuer.example", "--audience", "app",
                ])
                _ = try await Subprocess.run(
                    .name("env"), arguments: arguments, input: .none, output: .sequence, error: .discarded
                ) { server in
                    var lines = server.standardOutput.strings().makeAsyncIterator()
                    let line = try #require(try await lines.next())
                    let client = TestClient(try #require(URL(string: line)))
                    try await #expect(client.list("TodoItem").status == 401)
                    var claims = Tokens.Claims()
                    // The program's clock is the system's.
                    claims.exp = Date().timeIntervalSince1970 + 3600
                    for key in Tokens.Key.allCases {
                        let headers = ["X-ZUMO-AUTH": try await Tokens.token(claims, key)]
                        let reply = try await client.send("GET", "/tables/TodoItem", headers: headers)
                        #expect(reply.status == 200)
                    }
                    try server.send(signal: .terminate)
                }
            }
        }

        /// Runs the program with a file of settings until it has printed its URL, and returns the URL.
        private func url(
            _ settings: String, _ arguments: [String] = [], environment: [String] = [],
            _ body: (TestClient) async throws -> Void
        ) async throws {
            try await withTemporaryDirectory { directory in
                let file = directory.appending(path: "settings.json")
                try Data(settings.utf8).write(to: file)
                let program = try builtProgram("table-server").path
                let words = environment + [program, "--config", file.path] + arguments
                _ = try await Subprocess.run(
                    .name("env"), arguments: Arguments(words), input: .none, output: .sequence,
                    error: .discarded
                ) { server in
                    var lines = server.standardOutput.strings().makeAsyncIterator()
                    let line = try #require(try await lines.next())
                    try await body(TestClient(try #require(URL(string: line))))
                    try server.send(signal: .terminate)
                }
            }
        }

        @Test func `the permission of each operation can be a setting`() async throws {
            try await withTemporaryDirectory { directory in
                let secret = directory.appending(path: "secret")
                try Tokens.secret.write(to: secret)
                func statuses(_ client: TestClient) async throws -> [Int] {
                    try await [client.list("A").status, client.insert([:], in: "A").status]
                }
                let settings =
                    #"{"table": ["A:authenticated:read=anonymous"], "secret-file": "\#(secret.path)"}"#
                try await url(settings) { try await #expect(statuses($0) == [200, 401]) }
                try await url(settings, environment: ["TABLESERVER_TABLE=A:read=authenticated,B"]) {
                    try await #expect(statuses($0) == [401, 201])
                }
                try await url(settings, ["--table", "A:insert=admin"]) {
                    try await #expect(statuses($0) == [200, 401])
                }
            }
        }

        @Test func `the columns of a table can be a setting`() async throws {
            func statuses(_ client: TestClient) async throws -> [Int] {
                try await [
                    client.insert(["text": "Milk"], in: "A").status,
                    client.insert(["note": "2 l"], in: "A").status,
                ]
            }
            let settings = #"{"table": ["A:columns=text"]}"#
            try await url(settings) { try await #expect(statuses($0) == [201, 400]) }
            try await url(settings, environment: ["TABLESERVER_TABLE=A:columns=text+note,B"]) {
                try await #expect(statuses($0) == [201, 201])
            }
            try await url(settings, ["--table", "A"]) { try await #expect(statuses($0) == [201, 201]) }
        }

        @Test(arguments: [Signal.interrupt, .terminate])
        func `a signal ends the program while it waits for its database`(_ signal: Signal) async throws {
            let socket = try LoopbackSocket()
            try socket.listen()
            defer { close(socket.descriptor) }
            let database = "host=127.0.0.1 port=\(socket.port) connect_timeout=3600 sslmode=disable"
            let result = try await Subprocess.run(
                .name("env"), arguments: try command(["--table", "A", "--database", database]),
                input: .none, output: .discarded, error: .sequence
            ) { server in
                // Nothing is sent on the connection.
                let connection = await socket.connection()
                defer { close(connection) }
                try server.send(signal: signal)
                var lines = server.standardError.strings().makeAsyncIterator()
                #expect(try await lines.next()?.contains("before it has started") == true)
            }
            #expect(result.terminationStatus == .exited(0))
        }

        @Test func `a second signal ends the program while a request is under way`() async throws {
            let result = try await Subprocess.run(
                .name("env"), arguments: try command(["--table", "A"]),
                input: .none, output: .sequence, error: .sequence
            ) { server in
                var lines = server.standardOutput.strings().makeAsyncIterator()
                let url = try #require(try await lines.next().flatMap { URL(string: $0) })
                let connection = try RawConnection(port: try #require(url.port))
                // The server answers only when the body is complete.
                try connection.send(
                    "POST /tables/A HTTP/1.1\r\nHost: a\r\nZUMO-API-VERSION: 2.0.0\r\n"
                        + "Expect: 100-continue\r\nContent-Length: 9\r\n\r\n{")
                await #expect(connection.read().hasPrefix("HTTP/1.1 100 "))
                try server.send(signal: .terminate)
                for try await line in server.standardError.strings()
                where line.contains("stops because of a signal") {
                    try server.send(signal: .terminate)
                    break
                }
                _ = await connection.readToEnd()
            }
            #expect(result.terminationStatus == .exited(0))
        }

        @Test func `settings can be in a file, the environment before it, and the command line before both`()
            async throws
        {
            let file = #"{"table": ["A", "B:hard"], "page-size": 1, "max-top": 5, "metrics": true}"#
            func statuses(_ client: TestClient) async throws -> [Int] {
                var statuses: [Int] = []
                for path in ["/tables/A", "/tables/B", "/tables/C", "/metrics", "/tables/A?$top=6"] {
                    statuses.append(try await client.get(path).status)
                }
                return statuses
            }
            try await url(file) { try await #expect(statuses($0) == [200, 200, 404, 200, 400]) }
            try await url(file, environment: ["TABLESERVER_TABLE=A,C", "TABLESERVER_METRICS=false"]) {
                try await #expect(statuses($0) == [200, 404, 200, 404, 400])
            }
            try await url(file, ["--table", "B", "--max-top=6"], environment: ["TABLESERVER_TABLE=A,C"]) {
                try await #expect(statuses($0) == [404, 200, 404, 200, 404])
                try await #expect($0.get("/tables/B?$top=6").status == 200)
            }
        }

        @Test(arguments: [
            ("[", "not JSON"), ("[]", "a JSON object"), (#"{"prot": 80}"#, "'prot'"),
            (#"{"table": ["A"], "port": -5}"#, "--port is set in the file"),
            (#"{"page": "yes"}"#, "true or false"), (#"{"table": "A"}"#, "an array of strings"),
            (#"{"table": ["A"], "port": 1.5}"#, "a string or an integer"),
            (#"{"table": ["A"], "page-size": "x"}"#, "--page-size is set in the file"),
            (#"{"table": ["A:x"]}"#, "--table is set in the file"),
        ])
        func `a file with a wrong setting ends the program with a message`(_ settings: String, _ word: String)
            async throws
        {
            try await withTemporaryDirectory { directory in
                let file = directory.appending(path: "settings.json")
                try Data(settings.utf8).write(to: file)
                let result = try await Subprocess.run(
                    .name("env"), arguments: try command(["--config", file.path]),
                    output: .string(limit: 1 << 16), error: .string(limit: 1 << 16))
                #expect(!result.terminationStatus.isSuccess)
                #expect(result.standardError.contains(word))
            }
        }

        @Test func `keys that are not a JSON Web Key Set end the program with a message that names the file`()
            async throws
        {
            try await withTemporaryDirectory { directory in
                let file = directory.appending(path: "key.pem").path
                try Data(Tokens.rsaPublicKey.utf8).write(to: URL(filePath: file))
                let result = try await Subprocess.run(
                    .name("env"), arguments: try command(["--table", "A", "--key-set", file]),
                    output: .discarded, error: .string(limit: 1 << 16))
                #expect(result.standardError.contains("--key-set '\(file)' must be a JSON Web Key Set"))
                #expect(result.standardError.contains("not PEM"))
            }
        }

        @Test func `every option can be set in a file and in the environment`() async throws {
            let help = try await Subprocess.run(
                .name("env"), arguments: try command(["--help"]), output: .string(limit: 1 << 16),
                error: .discarded
            ).standardOutput
            let options = help.matches(of: /(?m)^ +(?:-\w, )?--([a-z-]+)/).map { String($0.output.1) }
            let known = SettingName.all
            #expect(Set(options).subtracting(["config", "help"]) == Set(known))
        }

        @Test(arguments: [
            (["--table", "a:authenticated"], "--secret-file or --key-set"),
            (["--table", "a", "--issuer", "x"], "--key-set"),
            (["--table", "a", "--key-set", "/nosuch"], "/nosuch"),
            (["--table", "a", "--log-level", "x"], "log-level"),
            (["--table", "a", "--config", "/nosuch"], "/nosuch"),
            (["--table", "a:x"], "per-user"), ([], "no table"), (["--table", "no name"], "no name"),
            (["--table", "a", "--page-size", "0"], "--page-size must be at least 1, not 0"),
            (["--table", "a", "--port", "65536"], "--port must be from 0 to 65535"),
            (["--table", "a", "--page", "--host", "0.0.0.0"], "--page shows all rows, so --host must be"),
            (["--table", "a:columns="], "column name ''"), (["--table", "a:columns=id"], "'id'"),
            (["--tabel", "a"], "'--table'"), (["--table", "a", "--data", ""], "--data is empty"),
            (["--table", "a", "--data", "/"], "it is a directory"),
            (["--table", "a", "--secret-file", "/"], "it is a directory"),
            (["--table", "a", "--config", ""], "--config is empty"),
            (["--table", "a", "--key-set", "/nosuch"], "it does not exist"),
            (["--table", "a", "--host", "192.0.2.1"], "does not have the address"),
            (["--table", "a", "--data", "/nosuch/a"], "the directory '/nosuch' does not exist"),
            (["--table", "a", "--data", "/nosuch/a", "--database", "dbname=a"], "--database"),
            (["--table", "a", "--database", "host=/nosuch"], "/nosuch"),
            (["--table", "a", "--database", "dbname=a", "--max-connections", "0"], "--max-connections"),
            (["--table", "a", "--max-connections", "5"], "--max-connections is for --database"),
            (["--table", "a", "--dialect", "v4"], "dialect"),
        ])
        func `invalid arguments end the program with a message`(_ arguments: [String], _ word: String)
            async throws
        {
            let result = try await Subprocess.run(
                .name("env"), arguments: try command(arguments), output: .string(limit: 1 << 16),
                error: .string(limit: 1 << 16))
            #expect(!result.terminationStatus.isSuccess)
            #expect(result.standardError.contains(word))
            #expect(result.standardOutput == "")
        }
    }
#endif
