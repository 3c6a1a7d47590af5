// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) || os(macOS)
    import Foundation
    import SyncCore
    import TestSupport
    import Testing

    @testable import TableServer
    @testable import TableServerPostgreSQL

    extension PostgreSQLOptions {
        fileprivate static var withoutTimeLimits: PostgreSQLOptions {
            var options = PostgreSQLOptions()
            options.timeLimits = nil
            return options
        }
    }

    /// What only a database on a server has.
    @Suite
    struct PostgreSQLStorageTests {
        @Test func `rows are unchanged after a restart of the server`() async throws {
            let storage = TableServer.Storage.postgreSQL(try PostgreSQLDatabase().connection)
            var before: [TableRow] = []
            try await withServer({ $0.storage = storage }) { server, client in
                for (id, value) in [
                    ("z", 9_007_199_254_740_993), ("é", 0.1), ("e\u{301}", nil), ("-", -0.0),
                    ("\\", "\\u0000"),
                    ("'", ["a": [true, "\0\"\\"], "\0": "\u{FFFF}"]),
                ] as [(String, ItemValue)] {
                    try await #expect(client.insert(["id": .text(id), "Value": value]).status == 201)
                }
                _ = try await client.patch("z", ["other": "x"])
                _ = try await client.delete("é")
                before = try server.rows(in: "TodoItem")
                try #expect(server.row("'", in: "TodoItem")?.fields["Value"]?["a"] == [true, "\0\"\\"])
            }
            try await withServer({ $0.storage = storage }) { server, client in
                try #expect(server.rows(in: "TodoItem") == before)
                // The spelling of columns and the order of insertion continue.
                try await #expect(client.insert(["id": "new", "VALUE": 1])["Value"] == 1)
                try #expect(server.rows(in: "TodoItem").last?.id == "new")
            }
        }

        @Test func `eight servers can create the tables at the same moment`() async throws {
            let storage = TableServer.Storage.postgreSQL(
                try PostgreSQLDatabase().connection, maxConnections: 2)
            try await withThrowingTaskGroup(of: Int.self) { group in
                for n in 0..<8 {
                    group.addTask {
                        var status = 0
                        try await withServer({ $0.storage = storage }) { _, client in
                            status = try await client.insert(["id": .text("\(n)"), "column\(n)": 1]).status
                        }
                        return status
                    }
                }
                for try await status in group { #expect(status == 201) }
            }
            try await withServer({ $0.storage = storage }) { server, _ in
                try #expect(server.rows(in: "TodoItem").count == 8)
            }
        }

        @Test func `tables of a newer format are an error`() async throws {
            let database = try PostgreSQLDatabase()
            let storage = TableServer.Storage.postgreSQL(database.connection)
            try await withServer({ $0.storage = storage }) { _, _ in }
            try database.connect().run("UPDATE serverFormat SET format = format + 1")
            let error = await #expect(throws: TableServerError.self) {
                try await withServer({ $0.storage = storage }) { _, _ in }
            }
            #expect(error?.code == .storage)
            #expect(error?.message.contains("newer version") == true)
        }

        @Test func `a server replaces older functions`() async throws {
            let database = try PostgreSQLDatabase()
            let storage = TableServer.Storage.postgreSQL(database.connection)
            try await withServer({ $0.storage = storage }) { _, _ in }
            try database.connect().run(
                "UPDATE serverFormat SET functions = 0; DROP FUNCTION odata_trim(text)")
            try await withServer({ $0.storage = storage }) { _, client in
                try await #expect(client.list("TodoItem", [("$filter", "trim(a) eq ''")]).status == 200)
            }
        }

        @Test(arguments: [
            "postgresql://user:s3cret@127.0.0.1:1/database", "postgresql://user:s3cret@/%zz",
            "host=127.0.0.1 port=1 password=s3cret", "password=s3cret port",
            "postgresql://user:s3@cret@localhost:1/database", "s3cret",
            "postgresql://user:s3cret/x@localhost:1/database",
            "postgresql://user:s3/cret@localhost:1/database",
        ])
        func `a database that cannot be reached is an error without the password`(_ connection: String)
            async throws
        {
            var configuration = TableServer.Configuration(
                tables: [.init("a")], storage: .postgreSQL(connection))
            configuration.host = "127.0.0.1"
            var text = String(describing: configuration)
            dump(configuration, to: &text)
            do {
                try await withTableServer(configuration) { _ in }
                Issue.record("The server has started.")
            } catch {
                dump(error, to: &text)
                text += "\(error)"
            }
            #expect(text.contains("database"))
            #expect(!text.contains("cret"))
        }

        @Test func `a database that refuses writes, as a standby does, is an error`() async throws {
            let connection = try PostgreSQLDatabase().connection
            let storage = TableServer.Storage.postgreSQL(
                "\(connection) options='-c default_transaction_read_only=on'")
            let error = await #expect(throws: TableServerError.self) {
                try await withTableServer(.init(tables: [.init("a")], storage: storage)) { _ in }
            }
            #expect(error?.message.contains("read-only") == true)
        }

        @Test(arguments: ["25006", "0A000", "57P01", "08006"])
        func `a connection to a server that has stopped or no longer writes is not used again`(
            _ state: String
        ) {
            let error = PostgreSQLError(state: state, message: "message", isLost: false)
            #expect(error.isLost)
            #expect(error.response?.status == 503)
            #expect((error.response?.cause as? PostgreSQLError)?.state == state)
        }

        @Test func `an expression that needs too much of the stack is 400`() {
            let error = PostgreSQLError(state: "54001", message: "stack depth limit exceeded", isLost: false)
            #expect(error.response?.status == 400)
        }

        @Test func `a table name that PostgreSQL would cut is an error`() async throws {
            let storage = TableServer.Storage.postgreSQL(try PostgreSQLDatabase().connection)
            let error = await #expect(throws: TableServerError.self) {
                let name = String(repeating: "a", count: 49)
                try await withTableServer(.init(tables: [.init(name)], storage: storage)) { _ in }
            }
            #expect(error?.code == .configuration)
        }

        @Test func `a write that another program keeps waiting is 503, and is not applied`() async throws {
            let database = try PostgreSQLDatabase()
            try await withServer({ $0.storage = .postgreSQL(database.connection) }) { server, client in
                let other = try database.connect()
                try other.run("BEGIN; UPDATE serverStamp SET updatedAt = updatedAt")
                let reply = try await client.insert(["id": "a"])
                #expect(reply.status == 503)
                #expect(reply.headers["retry-after"] == "1")
                // Reads do not wait.
                try await #expect(client.list("TodoItem").json == [])
                try other.run("ROLLBACK")
                try await #expect(client.insert(["id": "a"]).status == 201)
            }
        }

        @Test func `a transaction that cannot begin leaves no connection in it`() async throws {
            let database = try PostgreSQLDatabase()
            let storage = TableServer.Storage.postgreSQL(
                database.connection, maxConnections: 1, .withoutTimeLimits)
            try await withServer({ $0.storage = storage }) { _, client in
                let other = try database.connect()
                try other.run("BEGIN; LOCK TABLE serverColumn")
                async let blocked = client.insert(["id": "refused"])
                try await database.waitForBlockedStatement()
                try database.cancelBlockedStatements()
                let reply = try await blocked
                #expect(reply.status == 503)
                #expect(reply["error"]?.textValue?.contains("taken too long") == true)
                try other.run("ROLLBACK")
                try await #expect(client.insert(["id": "a"]).status == 201)
                try await #expect(client.list("TodoItem").ids == ["a"])
            }
        }

        @Test func `a selection includes a column that another process adds during the request`() async throws
        {
            let database = try PostgreSQLDatabase()
            try await withServer({
                $0.storage = .postgreSQL(database.connection, .withoutTimeLimits)
            }) { server, client in
                try await server.put("a", [:], in: "TodoItem")
                let other = try database.connect()
                try other.run("BEGIN; LOCK TABLE rows_todoitem")
                async let list = client.list("TodoItem", [("$select", "id,TITLE")])
                try await database.waitForBlockedStatement()
                try other.run(
                    """
                    INSERT INTO serverColumn VALUES ('todoitem', 1, 'Title');
                    UPDATE rows_todoitem SET fields = '{"Title":"x"}';
                    COMMIT
                    """)
                try await #expect(list.items == [["id": "a", "Title": "x"]])
            }
        }

        @Test func `a server stops although the database does not respond, and no waiting write is applied`()
            async throws
        {
            let database = try PostgreSQLDatabase()
            let storage = TableServer.Storage.postgreSQL(
                database.connection, maxConnections: 1, .withoutTimeLimits)
            let server = try await TableServer.start(
                configuration: .init(tables: [.init("TodoItem")], storage: storage))
            let client = TestClient(server)
            let other = try database.connect()
            try other.run("BEGIN; UPDATE serverStamp SET updatedAt = updatedAt")
            async let first = try? client.insert(["id": "a"])
            async let second = try? client.insert(["id": "b"])
            try await database.waitForBlockedStatement()
            await server.stop()
            try other.run("COMMIT")
            let replies = await [first, second]
            #expect(replies.allSatisfy { $0 == nil })
            try #expect(other.run("SELECT count(*) FROM rows_todoitem").integer(0, 0) == 0)
        }

        @Test func `servers that add columns at the same time refuse no request`() async throws {
            let storage = TableServer.Storage.postgreSQL(
                try PostgreSQLDatabase().connection, maxConnections: 40)
            try await withServer({ $0.storage = storage }) { _, client in
                try await withThrowingTaskGroup(of: [Int].self) { group in
                    for number in 0..<30 {
                        group.addTask {
                            var statuses: [Int] = []
                            for round in 0..<4 {
                                let item: ItemValue = .object(["column\(number)_\(round)": 1])
                                statuses.append(try await client.insert(item).status)
                            }
                            return statuses
                        }
                    }
                    for try await statuses in group { #expect(statuses.allSatisfy { $0 == 201 }) }
                }
            }
        }

        @Test func `a feed whose database cannot be read is an error`() async throws {
            let database = try PostgreSQLDatabase()
            try await withServer({ $0.storage = .postgreSQL(database.connection) }) { _, client in
                try database.connect().run("DROP TABLE serverFormat")
                let reply = try await client.send(
                    "GET", "/tables/TodoItem/changes", headers: ["Accept": "text/event-stream"])
                #expect(reply.status == 500)
            }
        }

        @Test func `a connection that ends during a request is replaced`() async throws {
            let database = try PostgreSQLDatabase()
            try await withServer({ $0.storage = .postgreSQL(database.connection) }) { _, client in
                try await #expect(client.insert(["id": "a"]).status == 201)
                try database.endConnections()
                try await #expect(client.insert(["id": "b"]).status == 201)
                try await #expect(client.list("TodoItem").ids == ["a", "b"])
            }
        }

        @Test func `a commit whose outcome is unknown is not a success`() async throws {
            let database = try PostgreSQLDatabase()
            var options = PostgreSQLOptions()
            options.beforeCommit = { try? database.endConnections() }
            try await withServer({ $0.storage = .postgreSQL(database.connection, options) }) { _, client in
                let reply = try await client.insert(["id": "a"])
                #expect(reply.status == 504)
                #expect(reply["error"]?.textValue?.contains("may have been stored") == true)
            }
        }

        @Test func `a commit that takes too long is 504, and other requests are answered`() async throws {
            let database = try PostgreSQLDatabase()
            var options = PostgreSQLOptions()
            options.timeLimits?.commit = .milliseconds(100)
            try await withServer({ $0.storage = .postgreSQL(database.connection, options) }) { _, client in
                // As if the commit waited for a standby.
                try database.connect().run(
                    """
                    CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS
                    'BEGIN PERFORM pg_sleep(600); RETURN NULL; END';
                    CREATE CONSTRAINT TRIGGER wait AFTER INSERT ON rows_todoitem DEFERRABLE INITIALLY DEFERRED
                    FOR EACH ROW WHEN (NEW.id = 'slow') EXECUTE FUNCTION wait()
                    """)
                let reply = try await client.insert(["id": "slow"])
                #expect(reply.status == 504)
                #expect(reply["error"]?.textValue?.contains("may have been stored") == true)
                try database.endConnections()
                try await #expect(client.insert(["id": "next"]).status == 201)
                try await #expect(client.list("TodoItem").ids == ["next"])
            }
        }

        @Test func `confirmed changes survive a crash of PostgreSQL, and the server continues`() async throws
        {
            // Other tests use the shared one.
            let postgreSQL = try PostgreSQLServer()
            try await withServer({ $0.storage = .postgreSQL(postgreSQL.connection()) }) { server, client in
                for (n, crash) in [postgreSQL.crash, postgreSQL.restart].enumerated() {
                    try await #expect(client.insert(["id": .text("\(n)")]).status == 201)
                    try crash()
                    let reply = try await client.get("/tables/TodoItem/\(n)")
                    #expect(reply.status == 200, "\(n): \(reply.text)")
                    try await #expect(client.get("/health/ready").status == 200)
                    try #expect(server.rows(in: "TodoItem").count == n + 1)
                }
            }
        }

        @Test func `a connection keeps only short statements prepared`() async throws {
            let connection = try PostgreSQLDatabase().connect()
            try PostgreSQLSchema(connection).open(tables: ["todoitem"])
            let filter = (0..<2000).map { "n eq \($0)" }.joined(separator: " or ")
            let query = RowQuery(
                filter: try ODataParser.parse(filter, columns: ColumnNames()), ordering: [],
                includesDeleted: true)
            let rows = try rows(connection)
            try rows.commit { try #expect(rows.rows(query, offset: 0, limit: 1).isEmpty) }
            let count = "SELECT count(*) FROM pg_prepared_statements WHERE length(statement)"
            try #expect(connection.run("\(count) > 4096").integer(0, 0) == 0)
            try #expect(connection.run("\(count) > 0").integer(0, 0) > 0)
        }

        private func rows(_ connection: PostgreSQLConnection, inTransaction: Bool = true) throws
            -> PostgreSQLRows
        {
            let scope = RowScope(table: TableServer.Table("TodoItem"))
            let settings = RowStampSettings(TableServer.Configuration(tables: []))
            return inTransaction
                ? try PostgreSQLRows(reading: connection, scope, settings)
                : try PostgreSQLRows(readingOnce: connection, scope, settings)
        }

        @Test func `a list by a column that is not known yet reads columns and rows of one moment`() throws {
            let connection = try PostgreSQLDatabase().connect()
            try PostgreSQLSchema(connection).open(tables: ["todoitem"])
            try connection.run("INSERT INTO serverColumn VALUES ('todoitem', 1, 'Known')")
            for (filter, isKnown) in [("Known eq null", true), ("text eq null", false)] {
                let rows = try rows(connection, inTransaction: false)
                let query = RowQuery(
                    filter: try ODataParser.parse(filter, columns: rows.columns()), ordering: [],
                    includesDeleted: true)
                if isKnown {
                    try #expect(rows.rows(query, offset: 0, limit: 1).isEmpty)
                } else {
                    #expect(throws: PostgreSQLRows.NeedsTransaction.self) {
                        try rows.rows(query, offset: 0, limit: 1)
                    }
                }
            }
        }

        @Test func `opening waits for another server longer than a statement may take`() async throws {
            let database = try PostgreSQLDatabase()
            let other = try database.connect()
            try other.run("SELECT pg_advisory_lock(hashtext('table-server'), hashtext(current_schema()))")
            try await withThrowingTaskGroup { group in
                group.addTask {
                    try await onThread {
                        let connection = try database.connect()
                        try connection.run("SET statement_timeout TO 250")
                        try PostgreSQLSchema(connection).open(tables: ["todoitem"])
                    }
                }
                group.addTask {
                    try await database.waitForBlockedStatement()
                    try await onThread {
                        try other.run("SELECT pg_sleep(0.5); SELECT pg_advisory_unlock_all()")
                    }
                }
                // The first failure ends the wait of the other task.
                for try await _ in group {}
            }
        }
    }
#endif
