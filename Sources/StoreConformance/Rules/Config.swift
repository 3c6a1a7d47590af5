// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

extension StoreRule {
    /// The table config.
    @RuleList static var config: [StoreRule] {
        StoreRule("config.set", "Setting a value stores it and replaces an earlier one.") { run in
            let key = Fixture.key("query")
            try run.expect(try run.config(key), is: nil, "before")
            try run.set("one", for: key)
            try run.expect(try run.config(key), is: "one", "after setting it")
            try run.set("two", for: key)
            try run.expect(try run.config(key), is: "two", "after setting it again")
            try run.expect(try run.names(), is: ["query"], "the names")
        }
        StoreRule("config.remove", "Setting nil removes the value; without a value it does nothing.") {
            run in
            try run.set("v", for: Fixture.key("a"))
            try run.set("v", for: Fixture.key("b"))
            for _ in 0..<2 { try run.set(nil, for: Fixture.key("a")) }
            try run.expect(try run.config(Fixture.key("a")), is: nil, "the removed value")
            try run.expect(try run.names(), is: ["b"], "the names")
        }
        StoreRule("config.exact", "Values are exact byte for byte, and may be empty.") { run in
            for value in [
                "", " ", "a\0b", "e\u{301}", "\u{1F600}", "2014-05-30T18:30:00.1234567Z|id", "null",
            ] {
                try run.set(value, for: Fixture.key("k"))
                try run.expect(try run.config(Fixture.key("k")), is: value, "the value")
            }
        }
        StoreRule("config.names", "Names are exact byte for byte, and may be empty.") { run in
            let names = ["", " ", "A", "a", "a\0", "a\0b", "a ", "e\u{301}", "\u{e9}", "'", "%"]
            for name in names { try run.set(name, for: Fixture.key(name)) }
            for name in names {
                try run.expect(
                    try run.config(Fixture.key(name)), is: name, "the value of \(name.exactDescription)")
            }
            try run.expect(try run.names().count, is: names.count, "the number of names")
        }
        StoreRule(
            "config.table", "Tables do not share values; table names are exact and may be empty."
        ) { run in
            let tables = ["", "Thing", "Thing2", "thing", "Gone", "e\u{301}", "\u{e9}"]
            for table in tables { try run.set(table, for: Fixture.key("k", in: table)) }
            for table in tables {
                try run.expect(
                    try run.config(Fixture.key("k", in: table)), is: table,
                    "the value of \(table.exactDescription)")
                try run.expect(try run.names(in: table), is: ["k"], "the names of \(table.exactDescription)")
            }
        }
        StoreRule("config.kind", "Kinds do not share values.") { run in
            try run.set("token", for: Fixture.key("k", .deltaToken))
            try run.set("setting", for: Fixture.key("k", .setting))
            try run.expect(try run.config(Fixture.key("k", .deltaToken)), is: "token", "the delta token")
            try run.set(nil, for: Fixture.key("k", .deltaToken))
            try run.expect(try run.config(Fixture.key("k", .setting)), is: "setting", "the setting")
            try run.expect(try run.names(.setting), is: ["k"], "the settings' names")
        }
        StoreRule("config.separator", "Table and name are separate parts of a key.") { run in
            try run.set("1", for: Fixture.key("b/c", in: "a"))
            try run.set("2", for: Fixture.key("c", in: "a/b"))
            try run.set("3", for: Fixture.key("c", in: "a\0b"))
            try run.set("4", for: Fixture.key("b\0c", in: "a"))
            try run.expect(try run.config(Fixture.key("b/c", in: "a")), is: "1", "b/c of a")
            try run.expect(try run.config(Fixture.key("c", in: "a/b")), is: "2", "c of a/b")
            try run.expect(try run.config(Fixture.key("c", in: "a\0b")), is: "3", "c of a, NUL, b")
            try run.expect(try run.names(in: "a"), is: ["b\0c", "b/c"], "the names of a")
        }
        StoreRule(
            "config.order", "The values of a table are in byte order of their names, each with its key."
        ) { run in
            let names = ["", "10", "9", "B", "a", "ab", "e\u{301}", "\u{e9}", "\u{FFFD}", "\u{1F600}"]
            for name in names.reversed() { try run.set("value of \(name)", for: Fixture.key(name)) }
            let found = try run.store.read { try $0.configValues(in: "Thing", kind: .deltaToken) }
            try run.expect(found.map(\.key), is: names.map { Fixture.key($0) }, "the keys")
            try run.expect(found.map(\.value), is: names.map { "value of \($0)" }, "the values")
        }
        StoreRule("config.inside", "A transaction sees its own changes of config values.") { run in
            try run.set("old", for: Fixture.key("a"))
            try run.store.write { transaction in
                try transaction.setConfigValue("new", for: Fixture.key("b"))
                try transaction.setConfigValue(nil, for: Fixture.key("a"))
                try run.expect(try transaction.configValue(Fixture.key("a")), is: nil, "the removed")
                let found = try transaction.configValues(in: "Thing", kind: .deltaToken).map(\.value)
                try run.expect(found, is: ["new"], "the values")
            }
        }
        StoreRule("config.apart", "Config values are independent of items and operations.") { run in
            try run.put([Item(id: "a", fields: ["label": "x"])])
            try run.put([Fixture.operation(1)])
            try run.set("v", for: Fixture.key("a"))
            try run.set(nil, for: Fixture.key("a"))
            try run.expect(try run.ids(), is: ["a"], "the items")
            try run.expect(try run.queue(), is: [1], "the queue")
        }
    }
}

extension RuleRun {
    fileprivate func names(in table: String = "Thing", _ kind: ConfigKey.Kind = .deltaToken) throws
        -> [String]
    {
        try store.read { try $0.configValues(in: table, kind: kind).map(\.key.name) }
    }
}
