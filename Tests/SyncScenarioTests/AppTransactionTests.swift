// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import StoreSQLite
import SyncCore
import TableServer
import TestSupport
import Testing

/// An app with GRDB writes a row and enqueues the change in its own transaction.
@Suite struct AppTransactionTests {
    private struct Record: Codable, FetchableRecord, PersistableRecord {
        static let databaseTableName = Todo.name
        var id: String
        var text: String
        var priority: Int?
    }

    private struct App {
        let database: DatabasePool
        let store: SQLiteStore
        let device: Device
        let scenario: Scenario

        func write(_ body: @Sendable @escaping (Database) throws -> Void) async throws {
            try await database.write { try body($0) }
        }
    }

    private func run(
        settings: SyncSettings = SyncSettings(),
        environment: (inout SyncEnvironment) -> Void = { _ in }, _ body: (App) async throws -> Void
    ) async throws {
        try await Scenario.run(on: .sqlite) { scenario in
            let path = scenario.directory.appendingPathComponent("app.sqlite").path
            let database = try DatabasePool(path: path)
            try await database.write { database in
                try database.create(table: Todo.name) { table in
                    table.primaryKey("id", .text)
                    table.column("text", .text).notNull()
                    table.column("priority", .integer)
                }
            }
            let store = try SQLiteStore(database: database, tables: [Todo.definition])
            let device = scenario.device(on: store, settings: settings, environment: environment)
            try await body(App(database: database, store: store, device: device, scenario: scenario))
            try await device.context.close()
            try database.close()
        }
    }

    /// The change and its operation are stored together, or neither.
    @Test func `a batch stores nothing after the store has failed, although its body catches the error`()
        async throws
    {
        try await run { app in
            try await app.device.table.insert(["id": "1", "text": "one"])
            try await app.device.context.push()
            try await app.write {
                try $0.execute(
                    sql: """
                        CREATE TRIGGER keep BEFORE DELETE ON TodoItem BEGIN SELECT RAISE(ABORT, 'kept'); END
                        """)
            }
            await expectError(.storeFailure) {
                try await app.device.context.batch { batch in
                    try batch.insert(["id": "2", "text": "two"], in: Todo.name)
                    try? batch.delete(id: "1", in: Todo.name)
                }
            }
            #expect(try await app.device.operations().isEmpty)
            #expect(try await app.device.texts() == ["one"])
        }
    }

    /// The device has a local-only column, whose value stays. With an observer, the transaction records what it changes.
    @Test(arguments: [false, true])
    func `a pulled row replaces values of the app that cannot be read`(_ isObserved: Bool) async throws {
        try await run { app in
            var observer = isObserved ? app.device.context.observeStatus().makeAsyncIterator() : nil
            _ = try await observer?.next()
            for id in ["1", "2"] { try await app.scenario.server.put(id, ["text": "one"], in: Todo.name) }
            try await app.device.sync()
            try await app.write {
                try $0.execute(
                    sql: "UPDATE TodoItem SET due = 'soon', priority = 'high', note = 'mine' WHERE id = '1'")
            }
            await expectError(.storeFailure) { _ = try await app.device.item("1") }
            try await app.scenario.server.update("1", ["text": "two"], in: Todo.name)
            try await app.scenario.server.put("3", ["text": "three"], in: Todo.name)
            let result = try await app.device.pullWithoutPush()
            #expect(result.upserted == 2)
            #expect(try await app.device.texts() == ["one", "three", "two"])
            #expect(try await app.device.item("1")?["note"] == "mine")
            #expect(try await app.device.item("1")?["due"] ?? .null == .null)
        }
    }

    @Test func `a pull does not replace a value of a local-only column that cannot be read`() async throws {
        try await run { app in
            try await app.scenario.server.put("1", ["text": "one"], in: Todo.name)
            try await app.device.sync()
            try await app.write { try $0.execute(sql: "UPDATE TodoItem SET note = x'00' WHERE id = '1'") }
            try await app.scenario.server.update("1", ["text": "two"], in: Todo.name)
            await expectError(.storeFailure) { try await app.device.pullWithoutPush() }
            try await app.write { try $0.execute(sql: "UPDATE TodoItem SET note = 'mine' WHERE id = '1'") }
            try await app.device.pullWithoutPush()
            #expect(try await app.device.texts() == ["two"])
        }
    }

    /// Refuses the server's rows of the item.
    private static let refusal = """
        CREATE TRIGGER refusal BEFORE UPDATE ON TodoItem WHEN NEW.id = '1' AND NEW.version IS NOT OLD.version BEGIN
            SELECT RAISE(ABORT, 'no rows of the server');
        END
        """

    @Test func `a response that the app's table refuses prevents no other operation, and is stored later`()
        async throws
    {
        try await run { app in
            for id in ["1", "2"] { try await app.device.table.insert(["id": .text(id), "text": .text(id)]) }
            try await app.write { try $0.execute(sql: Self.refusal) }
            for id in ["3", "4"] {
                let error = try await app.device.expectPushError()
                #expect(error.itemID == "1" && error.code == .storeFailure && error.item?["text"] == "1")
                #expect(error.message.contains("no rows of the server"))
                #expect(try await app.device.operations().map(\.itemID) == ["1"])
                try await app.device.table.insert(["id": .text(id), "text": .text(id)])
            }
            try await app.device.table.update(id: "1", ["priority": 5])
            try await app.write { try $0.execute(sql: "DROP TRIGGER refusal") }
            try await app.device.sync()
            #expect(try app.scenario.serverTexts() == ["1", "2", "3", "4"])
            #expect(try app.scenario.row("1")?.fields["priority"] == 5)
            try await app.scenario.expectAgreement(app.device)
        }
    }

    @Test func `an item that the app has made unreadable prevents no other operation`() async throws {
        try await run { app in
            for id in ["1", "2"] { try await app.device.table.insert(["id": .text(id), "text": .text(id)]) }
            try await app.write { try $0.execute(sql: "UPDATE TodoItem SET priority = 2.5 WHERE id = '1'") }
            let error = try await app.device.expectPushError()
            #expect(error.itemID == "1" && error.code == .storeFailure && error.item?["text"] == "1")
            #expect(try app.scenario.serverTexts() == ["2"])
            try await app.write { try $0.execute(sql: "UPDATE TodoItem SET priority = 2 WHERE id = '1'") }
            try await app.device.context.push()
            #expect(try app.scenario.row("1")?.fields["priority"] == 2)
        }
    }

    @Test func `a decision that the app's table refuses leaves the conflict to the app`() async throws {
        var settings = SyncSettings()
        settings.resolver = .serverWins
        try await run(settings: settings) { app in
            try await app.scenario.server.put("1", ["text": "one"], in: Todo.name)
            try await app.device.sync()
            try await app.device.table.update(id: "1", ["text": "mine"])
            try await app.device.table.insert(["id": "2", "text": "two"])
            try await app.scenario.server.update("1", ["text": "theirs"], in: Todo.name)
            try await app.write { try $0.execute(sql: Self.refusal) }
            let error = try await app.device.expectPushError()
            #expect(error.isConflict && error.serverItem?["text"] == "theirs")
            #expect(error.message.contains("no rows of the server"))
            #expect(try app.scenario.serverTexts() == ["theirs", "two"])
            #expect(try await app.device.item("1")?["text"] == "mine")
            try await app.write { try $0.execute(sql: "DROP TRIGGER refusal") }
            try await app.device.sync()
            try await app.scenario.expectAgreement(app.device)
        }
    }

    @Test func `a delete whose row the app's table refuses cannot be discarded, and stays`() async throws {
        try await run(settings: .singleAttempt) { app in
            try await app.write { try $0.execute(sql: "CREATE UNIQUE INDEX names ON TodoItem(text)") }
            try await app.scenario.server.put("1", ["text": "Ann"], in: Todo.name)
            try await app.device.sync()
            try await app.device.table.delete(id: "1")
            try await app.device.table.insert(["id": "2", "text": "Ann"])
            app.scenario.server.inject(.refusal(403), when: { $0.method == "DELETE" })
            let error = try await app.device.expectPushError()
            await expectError(.storeFailure) {
                try await app.device.context.cancelAndDiscardItem(for: error)
            }
            #expect(try await app.device.operations().map(\.kind) == [.delete])
            try await app.device.table.update(id: "2", ["text": "Bea"])
            try await app.device.context.cancelAndDiscardItem(for: error)
            #expect(try await app.device.texts() == ["Ann", "Bea"])
            try await app.device.sync()
            try await app.scenario.expectAgreement(app.device)
        }
    }

    /// The delegate makes the request itself, so that the operation is not in flight.
    @Test func `a deletion in the app's transaction during an insert of a delegate is sent`() async throws {
        try await Scenario.run(on: .sqlite) { scenario in
            let path = scenario.directory.appendingPathComponent("app.sqlite").path
            let database = try DatabasePool(path: path)
            try await database.write { database in
                try database.execute(sql: "CREATE TABLE TodoItem(id TEXT PRIMARY KEY, text TEXT)")
            }
            let table = SyncTableDefinition(Todo.name, columns: [Todo.text])
            let store = try SQLiteStore(database: database, tables: [table])
            let delegate = ClosureDelegate(perform: { _, operation in
                guard operation.operation.kind == .insert, let item = operation.item else {
                    return try await operation.execute()
                }
                let row = try await scenario.server.put(item.id, ["text": "x"], in: Todo.name)
                try await database.write { database in
                    let deleted = try #require(try store.item(id: item.id, in: Todo.name, on: database))
                    try database.execute(sql: "DELETE FROM TodoItem WHERE id = ?", arguments: [item.id])
                    try store.enqueueExternalChanges(in: Todo.name, deleted: [deleted], on: database)
                }
                return Item(
                    id: item.id, fields: ["text": "x"], system: SystemProperties(version: row.version))
            })
            let device = scenario.device(on: store, delegate: delegate)
            try await device.table.insert(["id": "1", "text": "x"])
            try await device.context.push()
            try await device.sync()
            #expect(try await device.texts().isEmpty)
            #expect(try scenario.row("1")?.deleted == true)
            try await device.context.close()
            try database.close()
        }
    }

    @Test func `rows that the app writes are pushed, and pulled rows are the app's records`() async throws {
        try await run { app in
            let store = app.store
            try await app.write { database in
                try Record(id: "1", text: "one").insert(database)
                try store.enqueueExternalChanges(in: Todo.name, changed: ["1"], on: database)
            }
            try await app.device.sync()
            #expect(try app.scenario.serverTexts() == ["one"])
            try await app.scenario.server.put("2", ["text": "two", "priority": 2], in: Todo.name)
            try await app.device.sync()
            let pulled = try await app.database.read { try Record.fetchOne($0, key: "2") }
            #expect(pulled?.text == "two" && pulled?.priority == 2)

            try await app.write { database in
                try Record(id: "2", text: "changed", priority: 3).update(database)
                let deleted = try #require(try store.item(id: "1", in: Todo.name, on: database))
                try Record.deleteOne(database, key: "1")
                try store.enqueueExternalChanges(
                    in: Todo.name, changed: ["2"], deleted: [deleted], on: database)
            }
            #expect(try await app.device.operations().map(\.kind) == [.update, .delete])
            try await app.device.sync()
            #expect(try app.scenario.serverTexts() == ["changed"])
            try await app.scenario.expectAgreement(app.device)
        }
    }

    @Test func `a transaction that is rolled back leaves neither row nor operation`() async throws {
        try await run { app in
            let store = app.store
            await #expect(throws: CancellationError.self) {
                try await app.write { database in
                    try Record(id: "1", text: "one").insert(database)
                    try store.enqueueExternalChanges(in: Todo.name, changed: ["1"], on: database)
                    throw CancellationError()
                }
            }
            try await #expect(app.device.texts().isEmpty)
            try await #expect(app.device.operations().isEmpty)
            #expect(throws: StoreError.self) {
                try app.database.writeWithoutTransaction {
                    try store.enqueueExternalChanges(in: Todo.name, changed: [], on: $0)
                }
            }
        }
    }

    @Test func `a change during a push is queued behind the operation in flight`() async throws {
        try await run { app in
            let store = app.store
            try await app.device.table.insert(["id": "1", "text": "one"])
            let result = try await app.scenario.push(app.device) { _ in
                try await app.write { database in
                    try Record(id: "1", text: "two").update(database)
                    try store.enqueueExternalChanges(in: Todo.name, changed: ["1"], on: database)
                }
                #expect(try await app.device.operations().map(\.kind) == [.insert, .update])
            }
            _ = try result.get()
            try await app.device.sync()
            #expect(try app.scenario.serverTexts() == ["two"])
            try await app.scenario.expectAgreement(app.device)
        }
    }

    @Test func `observers receive changes that the app commits`() async throws {
        try await run { app in
            let store = app.store
            var results = app.device.table.observe(Todo.query).makeAsyncIterator()
            #expect(try await results.next()?.items.isEmpty == true)
            try await app.write { database in
                try Record(id: "1", text: "one").insert(database)
                try store.enqueueExternalChanges(in: Todo.name, changed: ["1"], on: database)
            }
            #expect(try await results.next()?.items.map(\.id) == ["1"])
            try await app.device.table.update(id: "1", ["text": "two"])
            #expect(try await results.next()?.items.first?["text"] == "two")
        }
    }

    @Test func `observers receive rows that the app's triggers change`() async throws {
        try await run { app in
            try await app.write { database in
                try database.execute(
                    sql: """
                        CREATE TRIGGER priorities AFTER INSERT ON \(Todo.name) WHEN NEW.priority IS NULL BEGIN
                            UPDATE \(Todo.name) SET priority = 7 WHERE id = NEW.id;
                        END
                        """)
            }
            var results = app.device.table.observe(Todo.query.where(.column("priority") == 7))
                .makeAsyncIterator()
            #expect(try await results.next()?.items.isEmpty == true)
            try await app.device.table.insert(["id": "1", "text": "one"])
            #expect(try await results.next()?.items.map(\.id) == ["1"])
        }
    }

    /// - Parameter isAdopted: whether the rows were enqueued afterwards, so that the server may have them already.
    @Test(arguments: [false, true])
    func `an insert that was only marked is not sent after the app has deleted its row`(_ isAdopted: Bool)
        async throws
    {
        let writes = WriteSignal()
        try await run(settings: .singleAttempt, environment: { $0.executor = writes }) { app in
            if isAdopted {
                try await app.scenario.server.put("2", ["text": "2"], in: Todo.name)
                try await app.write { for id in ["1", "2"] { try Record(id: id, text: id).insert($0) } }
                try await app.device.context.enqueueExisting(Todo.query)
            } else {
                for id in ["1", "2"] {
                    try await app.device.table.insert(["id": .text(id), "text": .text(id)])
                }
            }
            let deleted = try #require(try await app.device.item("2"))
            let (store, marked) = (app.store, TestSignal())
            writes.onWrite {
                let states = try? store.read { try $0.operations(after: 0, in: nil, limit: 2).map(\.state) }
                if states == [.attempted, .attempted] { marked.send() }
            }
            let result = try await app.scenario.push(app.device, then: .dropRequest) { _ in
                try await marked.wait()
                try await app.write { database in
                    try database.execute(sql: "DELETE FROM TodoItem WHERE id = '2'")
                    try store.enqueueExternalChanges(in: Todo.name, deleted: [deleted], on: database)
                }
            }
            #expect(throws: SyncError.self) { try result.get() }
            try await app.device.context.push()
            let sent = app.scenario.writes().filter { $0.itemID == "2" }.map(\.method)
            #expect(sent == (isAdopted ? ["DELETE"] : []))
            #expect(try app.scenario.serverTexts() == ["1"])
            #expect(try await app.device.texts() == ["1"])
        }
    }

    @Test func `a delete can be discarded after a local-only column has got another type`() async throws {
        try await Scenario.run(on: .sqlite) { scenario in
            let path = scenario.directory.appendingPathComponent("app.sqlite").path
            let database = try DatabasePool(path: path)
            try await database.write {
                try $0.execute(
                    sql: "CREATE TABLE TodoItem(id TEXT PRIMARY KEY, text TEXT, flag INTEGER)")
            }
            func open(_ type: ColumnType) throws -> Device {
                let flag = SyncCore.SyncColumn("flag", type, isLocalOnly: true)
                let table = SyncTableDefinition(Todo.name, columns: [Todo.text, flag])
                return scenario.device(on: try SQLiteStore(database: database, tables: [table]))
            }
            try await scenario.server.put("1", ["text": "a"], in: Todo.name)
            var device = try open(.bool)
            try await device.sync()
            try await device.table.update(id: "1", ["flag": true])
            try await device.table.delete(id: "1")
            try await device.context.close()
            device = try open(.integer)
            scenario.server.inject(.refusal(403), when: \.isWrite)
            let error = try await device.expectPushError()
            try await device.context.cancelAndDiscardItem(for: error)
            #expect(try await device.texts() == ["a"])
            try await device.context.close()
            try database.close()
        }
    }
}
