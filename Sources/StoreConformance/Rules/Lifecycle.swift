// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

extension StoreRule {
    /// Opening and closing.
    @RuleList static var lifecycle: [StoreRule] {
        StoreRule("close.then-read", "After close, a read throws closed, and its body does not run.") { run in
            try run.put([Item(id: "a")])
            let store = try run.store
            try store.close()
            var ran = false
            try run.expect(throws: .closed, "a read") { try store.read { _ in ran = true } }
            try run.expect(!ran, "The body of a read on a closed store does not run.")
        }
        StoreRule("close.then-write", "After close, a write throws closed, and its body does not run.") {
            run in
            let store = try run.store
            try store.close()
            var ran = false
            for _ in 0..<3 {
                try run.expect(throws: .closed, "a write") { try store.write { _ in ran = true } }
            }
            try run.expect(!ran, "The body of a write on a closed store does not run.")
        }
        StoreRule("close.then-lock", "After close, the push lock and the sync lock are refused with closed.")
        {
            run in
            let store = try run.store
            try store.close()
            try run.expect(throws: .closed, "acquiring the push lock") { try store.tryLockPush() }
            try run.expect(throws: .closed, "acquiring the sync lock") { try store.tryLockSync() }
        }
        StoreRule("close.again", "A second close does nothing.") { run in
            let store = try run.store
            for _ in 0..<5 { try store.close() }
            try run.expect(throws: .closed, "a read after closing five times") { try store.read { _ in } }
        }
        StoreRule("close.unused", "A store that was never used can be closed.") { run in
            for round in 0..<5 {
                try run.with("unused\(round)") { try run.expect($0.catalog.tables.count, is: 3, "tables") }
            }
        }
        StoreRule("close.keeps-catalog", "Catalog and capabilities are available after close.") { run in
            let store = try run.store
            let before = (store.catalog.tables, store.capabilities)
            try store.close()
            try run.expect(store.catalog.tables == before.0, "The catalog is unchanged.")
            try run.expect(store.capabilities == before.1, "The capabilities are unchanged.")
        }
        StoreRule("close.releases-files", "Close closes all files and unmaps all memory.") { run in
            for round in 0..<3 {
                try run.with("files\(round)") { store in
                    try store.write { try $0.upsert(Fixture.series(200), in: "Thing") }
                    _ = try store.read { try $0.items(matching: TableQuery("Thing")) }
                }
                try run.expect(
                    OpenFiles.inside(run.directory), is: [], "open files after closing store \(round)")
            }
        }
        StoreRule("close.after-error", "A store with failed transactions closes without errors.") { run in
            try run.with("failed") { store in
                for _ in 0..<5 { try? store.write { _ in throw AppError() } }
                for _ in 0..<5 { try? store.read { _ in throw AppError() } }
            }
            try run.expect(OpenFiles.inside(run.directory), is: [], "open files")
        }
        StoreRule("isolation.stores", "Two stores share no data.") { run in
            let other = try run.open("other")
            try run.seedEverything()
            try run.expect(
                try other.write { try $0.lastOperationID() }, is: 0, "the other store's last operation id")
            try other.read { snapshot in
                try run.expect(
                    try snapshot.items(matching: TableQuery("Thing")).items, is: [], "the other store's items"
                )
                try run.expect(try snapshot.operationCount(in: nil), is: 0, "the other store's operations")
                try run.expect(try snapshot.operationErrors(in: nil), is: [], "the other store's errors")
                try run.expect(
                    try snapshot.configValue(Fixture.key("k")), is: nil, "the other store's config value")
            }
            try other.write { try $0.upsert([Item(id: "mine")], in: "Thing") }
            try other.close()
            try run.expect(try run.item("mine"), is: nil, "the other store's item in this store")
            try run.expect(try run.ids().count, is: 16, "the items after the other store has closed")
        }
        StoreRule("open.many", "Thirty stores can be open at the same time.") { run in
            let stores = try (0..<30).map { try run.open("many\($0)") }
            for (index, store) in stores.enumerated() {
                try store.write { try $0.upsert([Item(id: "i\(index)")], in: "Thing") }
            }
            for (index, store) in stores.enumerated() {
                let ids = try store.read { try $0.items(matching: TableQuery("Thing")).items.map(\.id) }
                try run.expect(ids, is: ["i\(index)"], "ids of store \(index)")
            }
        }
    }

    /// Table definitions at opening.
    @RuleList static var opening: [StoreRule] {
        StoreRule("open.catalog", "The catalog contains the tables that the store was opened with, in order.")
        {
            run in
            try run.expect(
                try run.store.catalog.tables == Fixture.tables, "The catalog has the given tables.")
            try run.expect(
                try run.store.catalog.tables.map(\.name), is: ["Thing", "Thing2", "order"],
                "the tables' names")
        }
        StoreRule("open.no-tables", "A store can be opened without tables; queue, error log and config work.")
        {
            run in
            try run.with("none", tables: []) { store in
                try store.write { transaction in
                    try transaction.put(Fixture.operation(1))
                    try transaction.put(Fixture.error(1))
                    try transaction.setConfigValue("v", for: Fixture.key("k", in: ""))
                }
                try store.read { snapshot in
                    try run.expect(try snapshot.operationCount(in: nil), is: 1, "operations")
                    try run.expect(try snapshot.configValue(Fixture.key("k", in: "")), is: "v", "the value")
                }
                try run.expect(throws: .unknownTable, "an item of an undeclared table") {
                    try store.read { try $0.item(id: "a", in: "Thing") }
                }
            }
        }
        StoreRule("open.no-columns", "A table may have no declared columns.") { run in
            try run.with("bare", tables: [SyncTableDefinition("Bare", columns: [])]) { store in
                let item = Item(id: "a", system: SystemProperties(version: "1"))
                try store.write { try $0.upsert([item], in: "Bare") }
                let found = try store.read {
                    try $0.items(matching: TableQuery("Bare").where(.column("version") == "1"))
                }
                try run.expect(found.items, is: [item], "the items")
            }
        }
        StoreRule("open.invalid-name", "Invalid names of tables and columns are refused at opening.") { run in
            let badTables = [
                "", "a b", "a-b", "1a", "MS_x", "ms_X", "sqlite_x", "\u{e9}", "a\0", "a;", "\"a\"",
            ]
            for name in badTables {
                try run.expect(
                    throws: .invalidTableDefinition, "opening a table named \(name.exactDescription)"
                ) {
                    try run.harness.open(
                        at: try run.path("bad"), tables: [SyncTableDefinition(name, columns: [])])
                }
            }
            for name in ["", "id", "ID", "version", "Deleted", "a b", "\u{e9}", "a]"] {
                try run.expect(
                    throws: .invalidTableDefinition, "opening a column named \(name.exactDescription)"
                ) {
                    let table = SyncTableDefinition("T", columns: [SyncColumn(name, .text)])
                    return try run.harness.open(at: try run.path("bad"), tables: [table])
                }
            }
        }
        StoreRule("open.same-name", "Names that differ only in case are refused at opening.") { run in
            try run.expect(throws: .invalidTableDefinition, "two tables") {
                try run.harness.open(
                    at: try run.path("bad"), tables: ["T", "t"].map { SyncTableDefinition($0, columns: []) })
            }
            try run.expect(throws: .invalidTableDefinition, "two columns") {
                let columns = [SyncColumn("c", .text), SyncColumn("C", .text)]
                return try run.harness.open(
                    at: try run.path("bad"), tables: [SyncTableDefinition("T", columns: columns)])
            }
        }
        StoreRule(
            "open.refused-leaves-nothing", "A refused opening leaves nothing that prevents the next one."
        ) { run in
            _ = try? run.harness.open(
                at: run.path("twice"), tables: [SyncTableDefinition("a b", columns: [])])
            try run.with("twice") { store in
                try store.write { try $0.upsert([Item(id: "a")], in: "Thing") }
                try run.expect(
                    try store.read { try $0.item(id: "a", in: "Thing") }, is: Item(id: "a"), "the item")
            }
            try run.expect(OpenFiles.inside(run.directory), is: [], "open files")
        }
        StoreRule(
            "open.failed-leaves-others", "An opening that fails does not affect a store that is open."
        ) { run in
            try run.seedEverything()
            try run.expectUnchanged("the open store after openings that failed") {
                for _ in 0..<5 {
                    let invalid = SyncTableDefinition("a b", columns: [])
                    try run.expectError(
                        "SyncError.invalidTableDefinition or StoreError.alreadyOpen",
                        "an opening with an invalid table",
                        { try run.harness.open(at: try run.path(), tables: [invalid]) },
                        { error in
                            (error as? SyncError)?.code == .invalidTableDefinition
                                || (error as? StoreError)?.code == .alreadyOpen
                        })
                    // Refused, unless the openings of the store share no data.
                    let changed = SyncTableDefinition("Thing", columns: [SyncColumn("count", .text)])
                    try? run.harness.open(at: try run.path(), tables: [changed]).close()
                }
            }
            try run.put([Item(id: "after")])
            try run.expect(try run.item("after"), is: Item(id: "after"), "the item of a write afterwards")
        }
        StoreRule("open.many-columns", "A table may have 200 columns and names of 128 characters.") {
            run in
            let names = (0..<199).map { "c\($0)" } + [String(repeating: "n", count: 128)]
            let table = SyncTableDefinition(
                String(repeating: "T", count: 128), columns: names.map { SyncColumn($0, .integer) })
            try run.with("wide", tables: [table]) { store in
                let fields = Dictionary(
                    uniqueKeysWithValues: names.enumerated().map { ($1, ItemValue.int(Int64($0))) })
                try store.write { try $0.upsert([Item(id: "a", fields: fields)], in: table.name) }
                let found = try store.read {
                    try $0.items(
                        matching: TableQuery(table.name).where(
                            Filter.isNull(.column(names[199])) || .column("c7") == 7))
                }
                try run.expect(found.items, is: [Item(id: "a", fields: fields)], "the item")
            }
        }
        StoreRule(
            "open.canonical-name",
            "Table names are exact: a character that is canonically equivalent to K is not K."
        ) { run in
            try run.with("kelvin", tables: [SyncTableDefinition("K", columns: [])]) { store in
                try run.expect(throws: .unknownTable, "an item of table KELVIN SIGN") {
                    try store.read { try $0.item(id: "a", in: "\u{212A}") }
                }
            }
        }
    }

    /// Errors, and the state of the store after them.
    @RuleList static var errors: [StoreRule] {
        StoreRule("error.usable", "The store is usable after refused calls.") { run in
            try run.seedEverything()
            try run.expectUnchanged("the store after refused calls") {
                let store = try run.store
                for _ in 0..<10 {
                    _ = try? store.read { try $0.item(id: "a", in: "Nothing") }
                    _ = try? store.write { try $0.upsert([Item(id: "a")], in: "Nothing") }
                    _ = try? store.write { try $0.deleteItems(matching: TableQuery("Nothing")) }
                }
            }
        }
        StoreRule(
            "error.partial",
            "A call that throws in the middle of a transaction rolls back the earlier changes."
        ) { run in
            try run.seedEverything()
            try run.expectUnchanged("the store after an upsert into an unknown table") {
                try run.expect(throws: .unknownTable, "the write") {
                    try run.store.write { transaction in
                        try Self.changeEverything(transaction)
                        try transaction.upsert([Item(id: "z")], in: "Nothing")
                    }
                }
            }
        }
        StoreRule("error.message", "Errors have a type and a readable message.") { run in
            let store = try run.store
            do { _ = try store.read { try $0.item(id: "a", in: "Nothing") } } catch let error as SyncError {
                try run.expect(
                    error.message.contains("Nothing"), "The message '\(error.message)' names the table.")
            }
            try store.close()
            do { try store.read { _ in } } catch let error as StoreError {
                try run.expect(error.message.count >= 10, "The message '\(error.message)' is a sentence.")
            }
        }
        StoreRule(
            "error.swallowed", "An error that the body handles does not end the transaction."
        ) { run in
            let count = try run.store.write { transaction in
                try transaction.upsert([Item(id: "a")], in: "Thing")
                _ = try? transaction.item(id: "a", in: "Nothing")
                _ = try? transaction.items(matching: TableQuery("Nothing"))
                try transaction.upsert([Item(id: "b")], in: "Thing")
                return try transaction.items(matching: TableQuery("Thing")).items.count
            }
            try run.expect(count, is: 2, "items in the transaction")
            try run.expect(try run.ids(), is: ["a", "b"], "items after it")
        }
        StoreRule("error.empty-catch", "A failed read in a snapshot does not affect the next read.") { run in
            try run.put([Item(id: "a")])
            try run.store.read { snapshot in
                _ = try? snapshot.item(id: "a", in: "Nothing")
                try run.expect(try snapshot.item(id: "a", in: "Thing"), is: Item(id: "a"), "the item")
            }
        }
    }

    /// Clauses that no check can decide.
    @RuleList static var untested: [StoreRule] {
        StoreRule(
            untested: "durable.power", "A returned write survives power loss.", level: .durable,
            because: "The check needs a machine whose power can be cut. The suite kills processes instead.")
        StoreRule(
            untested: "error.input-output", "A disk failure makes a call throw inputOutput.",
            because: "The check needs a failing disk. Callers are tested with FaultingStore.")
        StoreRule(
            untested: "close.memory", "Close releases memory.",
            because: "Allocators retain memory for reuse. Files and mappings are checked.")
        StoreRule(
            untested: "rely.body",
            "Bodies do not retain borrowed memory and do not call back into the store.",
            because: "It is an obligation of the caller; SyncCore fulfills it.")
    }
}
