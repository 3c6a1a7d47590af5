// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import Synchronization
import TableServer
import Testing

/// Values of columns that the app does not declare are never lost.
@Suite struct UndeclaredColumnTests {
    private static let extra: [String: ItemValue] = [
        "color": "red", "size": ["w": 1, "h": 2.5], "count": 9_007_199_254_740_993, "note": "the server's",
        "none": nil,
    ]

    /// A delegate that gives the item the version of the server's row, which only it reads.
    private static let givingVersionOfRow = ClosureDelegate(perform: { context, operation in
        let row = try await context.client.table(Todo.name).read(id: "1")
        operation.item?.system = SystemProperties(version: row.system.version)
        return try await operation.execute()
    })

    /// Expects that the row has the values of all undeclared columns.
    private func expectExtra(
        _ scenario: Scenario, _ id: String = "1", sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let fields = try scenario.row(id)?.fields ?? [:]
        for (name, value) in Self.extra {
            #expect((fields[name] ?? .null) == value, sourceLocation: sourceLocation)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an update that replaces the row sends undeclared columns unchanged`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let device = try scenario.wholeRowDevice()
            try await scenario.server.put(
                "1", Self.extra.merging(["text": "a", "priority": 1]) { $1 }, in: Todo.name)
            try await device.context.pull(Todo.query)
            let item = try #require(try await device.item("1"))
            #expect(item.fields == ["text": "a", "priority": 1])
            #expect(item.system.undeclared == Self.extra)

            try await device.table.update(id: "1", ["text": "b", "note": "ours"])
            try await device.context.push()
            #expect(try scenario.row("1")?.fields["text"] == "b")
            try expectExtra(scenario)
            // The response is the new base.
            try await device.table.update(id: "1", ["text": "c"])
            try await device.context.push()
            #expect(try scenario.row("1")?.fields["text"] == "c")
            try expectExtra(scenario)
            #expect(try await device.item("1")?["note"] == "ours")
            #expect(try await device.item("1")?.system.undeclared == Self.extra)
        }
    }

    /// Returns a device that does not declare the priority and has pulled a row. The server adds the column afterwards, without new
    /// versions of its rows.
    private func olderDevice(_ scenario: Scenario) async throws -> Device {
        try await scenario.server.put("1", ["text": "one", "priority": 5], in: Todo.name)
        scenario.server.onRequest { $0.isPage ? .editFields { $0["priority"] = nil } : .none }
        let old = try scenario.device(tables: [SyncTableDefinition(Todo.name, columns: [Todo.text])])
        try await old.sync()
        return old
    }

    @Test(arguments: StoreKind.persistent)
    func `a column that is declared during a pending change has its value afterwards`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let old = try await olderDevice(scenario)
            try await old.table.update(id: "1", ["text": "two"])
            try await old.context.close()
            scenario.server.onRequest { $0.isWrite ? .refusal(400) : .none }
            let new = try scenario.device()
            let error = try await new.expectPushError()
            try await new.pullWithoutPush()
            #expect(try await new.item("1")?.fields == ["text": "two", "priority": 5])
            try await new.context.cancelAndDiscardItem(for: error)
            #expect(try await new.item("1")?.fields == ["text": "one", "priority": 5])
        }
    }

    @Test(arguments: StoreKind.persistent)
    func `a declared column of the former row is not given to an item that is inserted again`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            try await olderDevice(scenario).context.close()
            scenario.server.onRequest(nil)
            let new = try scenario.device()
            try await new.table.delete(id: "1")
            _ = try await scenario.push(new) { _ in
                try await new.table.insert(["id": "1", "text": "two"])
                try await new.pullWithoutPush()
                #expect(try await new.item("1")?.fields == ["text": "two"])
            }
            #expect((try scenario.row("1")?.fields["priority"] ?? .null).isNull)
            try await scenario.expectAgreement(new)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func
        `an item with the version of a row that only the delegate has read keeps the row's undeclared columns`(
            _ kind: StoreKind
        ) async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let store = try kind.open(in: scenario.directory, name: "A", tables: [Todo.definition])
            let device = scenario.device(on: store, delegate: Self.givingVersionOfRow, dialect: .v3)
            try await scenario.server.put("1", ["text": "a", "color": "green"], in: Todo.name)
            try await device.context.pull(Todo.query)
            try await scenario.server.put(
                "1", Self.extra.merging(["text": "theirs"]) { $1 }, in: Todo.name)
            try await device.table.update(id: "1", ["text": "b"])
            try await device.context.push()
            #expect(try scenario.row("1")?.fields["text"] == "b")
            try expectExtra(scenario)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a row that the app stores for a conflict keeps its undeclared columns`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let device = try scenario.wholeRowDevice()
            try await scenario.server.put("1", ["text": "a"], in: Todo.name)
            try await device.context.pull(Todo.query)
            try await scenario.server.update("1", Self.extra.merging(["text": "b"]) { $1 }, in: Todo.name)
            try await device.table.update(id: "1", ["text": "c"])
            let error = try await device.expectPushError()
            let version = try #require(error.serverItem?.system.version)
            let row = Item(id: "1", fields: ["text": "b"], system: SystemProperties(version: version))
            try await device.context.cancelAndUpdateItem(for: error, with: row)
            try await device.table.update(id: "1", ["text": "d"])
            try await device.context.push()
            #expect(try scenario.row("1")?.fields["text"] == "d")
            try expectExtra(scenario)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a row inserted by the device keeps columns that other clients add`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let device = try scenario.wholeRowDevice()
            try await device.table.insert(["id": "1", "text": "a"])
            try await device.context.push()
            try await scenario.server.update("1", Self.extra, in: Todo.name)
            try await device.context.pull(Todo.query)
            try await device.table.update(id: "1", ["text": "b"])
            try await device.context.push()
            #expect(try scenario.row("1")?.fields["text"] == "b")
            try expectExtra(scenario)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a change that overwrites the server's row keeps its undeclared columns`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let device = try scenario.wholeRowDevice()
            try await scenario.server.put("1", ["text": "a", "color": "blue"], in: Todo.name)
            try await device.context.pull(Todo.query)
            try await device.table.update(id: "1", ["text": "ours"])
            try await scenario.server.update(
                "1", Self.extra.merging(["text": "theirs"]) { $1 }, in: Todo.name)
            let error = try await device.expectPushError()
            #expect(error.serverItem?.system.undeclared == Self.extra)
            let item = try #require(error.item)
            try await device.context.keepAndUpdateItem(for: error, with: item)
            try await device.context.push()
            #expect(try scenario.row("1")?.fields["text"] == "ours")
            try expectExtra(scenario)
        }
    }

    @Test(arguments: StoreKind.persistent)
    func `undeclared columns survive a restart, with and without a pending change`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            for (id, isPending) in [("1", false), ("2", true)] {
                try await scenario.server.put(id, Self.extra.merging(["text": "a"]) { $1 }, in: Todo.name)
                var device = try scenario.wholeRowDevice(id)
                try await device.context.pull(Todo.query.where(.column("id") == id))
                if isPending { try await device.table.update(id: id, ["text": "b"]) }
                try await device.context.close()
                device = try scenario.wholeRowDevice(id)
                try await device.table.update(id: id, ["text": "c"])
                try await device.context.push()
                #expect(try scenario.row(id)?.fields["text"] == "c")
                try expectExtra(scenario, id)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a change made directly in the store keeps undeclared columns`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let device = try scenario.wholeRowDevice()
            try await scenario.server.put("1", Self.extra.merging(["text": "a"]) { $1 }, in: Todo.name)
            try await device.context.pull(Todo.query)
            try device.store.write { transaction in
                var item = try #require(try transaction.item(id: "1", in: Todo.name))
                item["text"] = "b"
                try transaction.upsert([item], in: Todo.name)
            }
            try await device.context.enqueueExternalChanges(in: Todo.name, changed: ["1"])
            try await device.context.push()
            #expect(try scenario.row("1")?.fields["text"] == "b")
            try expectExtra(scenario)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an update that sends only changed fields sends no undeclared columns`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let device = try scenario.device()
            try await scenario.server.put("1", Self.extra.merging(["text": "a"]) { $1 }, in: Todo.name)
            try await device.sync()
            try await device.table.update(id: "1", ["text": "b"])
            try await scenario.server.update("1", ["color": "green"], in: Todo.name)
            let version = try #require(try scenario.row("1")?.version)
            // The version is current but the undeclared value is old: it must not be sent.
            try device.store.write { transaction in
                var operation = try #require(try transaction.operations(after: 0, in: nil, limit: 1).first)
                operation.version = version
                try transaction.put(operation)
            }
            try await device.context.push()
            #expect(try scenario.row("1")?.fields["color"] == "green")
            #expect(try await device.item("1")?.system.undeclared["color"] == "green")
        }
    }

    @Test(arguments: StoreKind.persistent)
    func `a column that is no longer declared is kept on the server and returns with its newest value`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let fewer = SyncTableDefinition(Todo.name, columns: [Todo.text, Todo.note])
            try await scenario.server.put("1", ["text": "a", "priority": 1, "complete": true], in: Todo.name)
            var device = try scenario.wholeRowDevice()
            try await device.context.pull(Todo.query)
            try await device.context.close()

            device = try scenario.wholeRowDevice(tables: [fewer])
            #expect(try await device.item("1")?.fields == ["text": "a"])
            try await device.table.update(id: "1", ["text": "b"])
            try await device.context.push()
            #expect(try scenario.row("1")?.fields["priority"] == 1)
            try await scenario.server.update("1", ["priority": 2], in: Todo.name)
            try await device.context.pull(Todo.query)
            try await device.context.close()

            device = try scenario.wholeRowDevice()
            #expect(
                try await device.item("1")?.fields == ["text": "b", "priority": 2, "complete": true])
            let found = try await device.table.items(matching: Todo.query.where(.column("priority") == 2))
            #expect(found.items.map(\.id) == ["1"])
            try await device.table.update(id: "1", ["text": "c"])
            try await device.context.push()
            #expect(try scenario.row("1")?.fields["priority"] == 2)
            try await device.context.close()
        }
    }

    @Test(arguments: StoreKind.persistent)
    func `an update that is repeated keeps a column that was not declared in between`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let fewer = SyncTableDefinition(Todo.name, columns: [Todo.text, Todo.note])
            try await scenario.server.put("1", ["text": "a", "priority": 1], in: Todo.name)
            var device = scenario.device(
                on: try kind.open(in: scenario.directory, name: "A", tables: [Todo.definition]),
                settings: .singleAttempt, dialect: .v3)
            try await device.context.pull(Todo.query)
            try await device.table.update(id: "1", ["text": "b"])
            scenario.server.inject(.answer(status: 503), when: \.isWrite)
            await expectError(.pushAbortedService) { try await device.context.push() }
            try await device.context.close()

            try await scenario.wholeRowDevice(tables: [fewer]).context.close()
            device = try scenario.wholeRowDevice()
            try await device.context.push()
            #expect(try scenario.row("1")?.fields["text"] == "b")
            #expect(try scenario.row("1")?.fields["priority"] == 1)
            try await device.context.close()
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a row that only the delegate of an external change has read keeps its undeclared columns`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let store = try kind.open(in: scenario.directory, name: "A", tables: [Todo.definition])
            let device = scenario.device(on: store, delegate: Self.givingVersionOfRow, dialect: .v3)
            try await scenario.server.put("1", ["text": "a"], in: Todo.name)
            try await device.context.pull(Todo.query)
            var item = try #require(try await device.item("1"))
            item.fields["text"] = "b"
            let changed = item
            try store.write { try $0.upsert([changed], in: Todo.name) }
            try await device.context.enqueueExternalChanges(in: Todo.name, changed: ["1"])
            try await scenario.server.update(
                "1", Self.extra.merging(["text": "theirs"]) { $1 }, in: Todo.name)
            try await device.context.push()
            #expect(try scenario.row("1")?.fields["text"] == "b")
            try expectExtra(scenario)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a row that only the app has read keeps its undeclared columns`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let device = try scenario.wholeRowDevice()
            try await scenario.server.put("1", ["text": "a"], in: Todo.name)
            try await device.context.pull(Todo.query)
            try await device.table.update(id: "1", ["text": "ours"])
            try await scenario.server.update("1", ["text": "theirs"], in: Todo.name)
            let error = try await device.expectPushError()
            try await scenario.server.update(
                "1", Self.extra.merging(["text": "later"]) { $1 }, in: Todo.name)
            let row = try await device.context.client.table(Todo.name).read(id: "1")
            let known = Item(id: "1", fields: ["text": "later"], system: row.system)
            try await device.context.cancelAndUpdateItem(for: error, with: known)
            try await device.table.update(id: "1", ["text": "b"])
            try await device.context.push()
            #expect(try scenario.row("1")?.fields["text"] == "b")
            try expectExtra(scenario)
        }
    }

    @Test(arguments: StoreKind.persistent)
    func `a delegate's version alone does not make an edit of a column that is declared later`(
        _ kind: StoreKind
    ) async throws {
        let extra = SyncTableDefinition(
            Todo.name, columns: Todo.definition.columns + [SyncColumn("extra", .integer)])
        let delegate = ClosureDelegate(perform: { _, operation in
            do { return try await operation.execute() } catch let error as TableOperationError {
                operation.item?.system.version = error.serverItem?.system.version
                return try await operation.execute()
            }
        })
        try await Scenario.run(on: kind) { scenario in
            try await scenario.server.put("x", ["text": "one", "extra": 1], in: Todo.name)
            let a = try scenario.device(delegate: delegate, settings: .singleAttempt)
            try await a.sync()
            try await a.table.update(id: "x", ["text": "ours"])
            try await scenario.server.update("x", ["extra": 2], in: Todo.name)
            let writes = Mutex(0)
            scenario.server.onRequest { request in
                guard request.isWrite else { return .none }
                writes.withLock { $0 += 1 }
                return writes.withLock(\.self) == 2 ? .dropRequest : .none
            }
            await expectError(.pushAbortedNetwork) { try await a.context.push() }
            try await a.context.close()
            scenario.server.onRequest(nil)
            let later = try scenario.device(tables: [extra])
            try await later.context.push()
            #expect(try scenario.row("x")?.fields["extra"] == 2)
            #expect(try scenario.serverTexts() == ["ours"])
        }
    }
}
