// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

extension StoreRule {
    /// Every string and value of the corpus, in every place where it is valid.
    @RuleList static var corpus: [StoreRule] {
        StoreRule(
            "corpus.id", "Every valid id is exact; every invalid one is refused before the store receives it."
        ) { run in
            for entry in CorpusText.all where !entry.isID {
                try run.expect(throws: .invalidItemID, "the id '\(entry.name)'") {
                    try ItemID.validate(entry.text)
                }
            }
            let entries = CorpusText.all.filter(\.isID)
            try run.put(entries.map { Item(id: $0.text, fields: ["label": .text($0.name)]) })
            let inOrder = entries.map(\.text).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            try run.expect(try run.ids(), is: inOrder, "all ids")
            for entry in entries {
                try ItemID.validate(entry.text)
                let item = Item(id: entry.text, fields: ["label": .text(entry.name)])
                try run.expect(try run.item(entry.text), is: item, "the id '\(entry.name)'")
                let found = try run.find(TableQuery("Thing").where(.column("id") == entry.text))
                try run.expect(found.items, is: [item], "the id '\(entry.name)', found by a query")
            }
            for (index, entry) in entries.enumerated() {
                try run.delete([entry.text])
                let rest = try run.find(TableQuery("Thing").limit(0).includingTotalCount()).totalCount
                try run.expect(
                    rest, is: entries.count - index - 1, "the remaining items without '\(entry.name)'")
            }
        }
        StoreRule("corpus.field", "Every string is exact in a text column, indexed or not.") { run in
            for column in ["label", "mark", "note"] {
                try run.put(Self.items { [column: .text($0.text)] })
                for (index, entry) in CorpusText.all.enumerated() {
                    let found = try run.item(Fixture.number(index))?[column]
                    try run.expect(found, is: .text(entry.text), "'\(entry.name)' in '\(column)'")
                }
            }
        }
        StoreRule("corpus.json", "Every string is exact as a JSON value, as a key in JSON, and nested.") {
            run in
            try run.put(Self.items { ["extra": [.text($0.text), .object([$0.text: [.text($0.text)]])]] })
            for (index, entry) in CorpusText.all.enumerated() {
                let found = try run.item(Fixture.number(index))?["extra"]
                let text = ItemValue.text(entry.text)
                try run.expect(found, is: [text, .object([entry.text: [text]])], "'\(entry.name)'")
            }
        }
        StoreRule("corpus.version", "Every string is exact as a version and in an undeclared column.") {
            run in
            let items = CorpusText.all.enumerated().map { index, entry in
                Item(
                    id: Fixture.number(index),
                    system: SystemProperties(
                        version: entry.text, supersededVersions: [entry.text],
                        undeclared: [entry.text: [.text(entry.text)]]))
            }
            try run.put(items)
            for (item, entry) in zip(items, CorpusText.all) {
                try run.expect(try run.item(item.id), is: item, "'\(entry.name)'")
            }
        }
        StoreRule("corpus.literal", "Every string as a filter's constant matches only itself.") {
            run in
            try run.put(Self.items { ["label": .text($0.text), "mark": .text($0.text)] })
            for (index, entry) in CorpusText.all.enumerated() {
                let id = [Fixture.number(index)]
                for column in ["label", "mark"] {
                    let equal = try run.find(TableQuery("Thing").where(.column(column) == entry.text)).items
                        .map(\.id)
                    try run.expect(equal, is: id, "\(column) == '\(entry.name)'")
                }
                let within = try run.find(TableQuery("Thing").where(.isIn(.column("label"), [entry.text])))
                    .items.map(
                        \.id)
                try run.expect(within, is: id, "in ['\(entry.name)']")
            }
        }
        StoreRule(
            "corpus.part", "Every string in a text test matches exactly the strings with its bytes there."
        ) { run in
            try run.put(Self.items { ["label": .text($0.text)] })
            let all = CorpusText.all.enumerated().map { (Fixture.number($0), Array($1.text.utf8)) }
            for entry in CorpusText.all where entry.text.utf8.count < 300 {
                let part = Array(entry.text.utf8)
                let starting = all.filter { $0.1.starts(with: part) }.map(\.0)
                try run.expect(
                    try run.ids(where: .hasPrefix(.column("label"), entry.text)), is: starting,
                    "has prefix '\(entry.name)'")
                let ending = all.filter { $0.1.reversed().starts(with: part.reversed()) }.map(\.0)
                try run.expect(
                    try run.ids(where: .hasSuffix(.column("label"), entry.text)), is: ending,
                    "has suffix '\(entry.name)'")
                let containing = all.filter { part.isEmpty || $0.1.contains(part) }.map(\.0)
                try run.expect(
                    try run.ids(where: .contains(.column("label"), entry.text)), is: containing,
                    "contains '\(entry.name)'")
            }
        }
        StoreRule("corpus.order", "All strings are ordered by their bytes.") { run in
            try run.put(Self.items { ["label": .text($0.text)] })
            let found = try run.find(TableQuery("Thing").order(by: "label")).items.compactMap {
                $0["label"]?.textValue
            }
            let inOrder = CorpusText.all.map(\.text).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            try run.expect(found, is: inOrder, "all texts, ordered")
        }
        StoreRule(
            "corpus.config", "Every string is exact as a config name, as a value and as a table name."
        ) { run in
            try run.store.write { transaction in
                for entry in CorpusText.all {
                    try transaction.setConfigValue(entry.text, for: Fixture.key(entry.text))
                    try transaction.setConfigValue(entry.name, for: Fixture.key("of table", in: entry.text))
                }
            }
            try run.store.read { snapshot in
                for entry in CorpusText.all {
                    let (named, ofTable) = (Fixture.key(entry.text), Fixture.key("of table", in: entry.text))
                    try run.expect(
                        try snapshot.configValue(named), is: entry.text, "'\(entry.name)' as a name")
                    try run.expect(
                        try snapshot.configValue(ofTable), is: entry.name, "'\(entry.name)' as a table")
                    let values = try snapshot.configValues(in: entry.text, kind: .deltaToken).map(\.value)
                    try run.expect(values, is: [entry.name], "all values of table '\(entry.name)'")
                }
                let inOrder = CorpusText.all.map(\.text).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
                let names = try snapshot.configValues(in: "Thing", kind: .deltaToken).map(\.key.name)
                try run.expect(names, is: inOrder, "all names, in order")
            }
        }
        StoreRule(
            "corpus.operation",
            "Every valid id is exact as the item id of an operation, and every string as its table."
        ) {
            run in
            try run.store.write { transaction in
                for (index, entry) in CorpusText.all.enumerated() {
                    if entry.isID {
                        try transaction.put(Fixture.operation(Int64(2 * index + 1), item: entry.text))
                    }
                    try transaction.put(Fixture.operation(Int64(2 * index + 2), item: "b", in: entry.text))
                }
            }
            try run.store.read { snapshot in
                for (index, entry) in CorpusText.all.enumerated() {
                    if entry.isID {
                        let ofItem = try snapshot.operations(forItem: entry.text, in: "Thing").map(\.id)
                        try run.expect(
                            ofItem, is: [Int64(2 * index + 1)], "operations of the item '\(entry.name)'")
                    }
                    let ofTable = try snapshot.operations(after: 0, in: entry.text, limit: 9).map(\.id)
                    try run.expect(
                        ofTable, is: [Int64(2 * index + 2)], "operations of the table '\(entry.name)'")
                    try run.expect(
                        try snapshot.operationCount(in: entry.text), is: 1,
                        "the number of operations of '\(entry.name)'")
                }
            }
        }
        StoreRule("corpus.error", "Every string is exact as the message and as the table of an error.") {
            run in
            try run.put(
                CorpusText.all.enumerated().map {
                    Fixture.error(Int64($0 + 1), in: $1.text, message: $1.text)
                })
            for (index, entry) in CorpusText.all.enumerated() {
                let found = try run.store.read { try $0.operationErrors(in: entry.text) }
                let error = Fixture.error(Int64(index + 1), in: entry.text, message: entry.text)
                try run.expect(found, is: [error], "errors of the table '\(entry.name)'")
            }
        }
        StoreRule(
            "corpus.name",
            "Every valid name works for a table and a column; every invalid one is refused."
        ) { run in
            let (good, bad) = (CorpusText.all.filter(\.isName), CorpusText.all.filter { !$0.isName })
            for entry in bad {
                for table in [
                    SyncTableDefinition(entry.text, columns: []),
                    SyncTableDefinition("T", columns: [SyncColumn(entry.text, .text)]),
                ] {
                    try run.expect(throws: .invalidTableDefinition, "the name '\(entry.name)'") {
                        try run.harness.open(at: try run.path("bad"), tables: [table])
                    }
                }
            }
            var names: [String] = []
            for entry in good where !names.contains(where: { $0.lowercased() == entry.text.lowercased() }) {
                names.append(entry.text)
            }
            let tables = names.map { name in
                SyncTableDefinition(name, columns: names.map { SyncColumn($0, .text) })
            }
            try run.with("names", tables: tables) { store in
                let item = Item(
                    id: "a", fields: Dictionary(uniqueKeysWithValues: names.map { ($0, .text($0)) }))
                for name in names {
                    try store.write { try $0.upsert([item], in: name) }
                    let query = TableQuery(name).where(.column(name) == name).order(by: name)
                    try run.expect(
                        try store.read { try $0.items(matching: query) }.items, is: [item], "table '\(name)'")
                }
            }
        }
        StoreRule(
            "corpus.values",
            "Every integer, double, date and blob is exact in its column, numbers in JSON too."
        ) { run in
            for corpus in CorpusValues.all {
                for value in corpus.values {
                    var item = Item(id: "it", fields: [corpus.column: value])
                    if value.doubleValue != nil { item["extra"] = [value, ["n": value]] }
                    try run.expectExact(item, "\(value.exactDescription)")
                }
            }
        }
        StoreRule(
            "corpus.values.order",
            "All integers, doubles, dates and blobs are ordered, and found by their value."
        ) { run in
            for corpus in CorpusValues.all {
                try run.delete(try run.ids())
                try run.put(
                    corpus.values.enumerated().reversed().map {
                        Item(id: Fixture.number($0), fields: [corpus.column: $1])
                    })
                let found = try run.find(TableQuery("Thing").order(by: corpus.column)).items
                try run.expect(
                    found.compactMap { $0[corpus.column] }, is: corpus.values,
                    "all of '\(corpus.column)', ordered")
                for value in corpus.values {
                    let less = try run.find(
                        TableQuery("Thing").where(.column(corpus.column) < value).includingTotalCount())
                    let greater = try run.find(
                        TableQuery("Thing").where(.column(corpus.column) > value).includingTotalCount())
                    let equal = try run.find(TableQuery("Thing").where(.column(corpus.column) == value)).items
                    try run.expect(
                        (less.totalCount ?? 0) + equal.count + (greater.totalCount ?? 0),
                        is: corpus.values.count,
                        "the number of values less than, equal to or greater than \(value.exactDescription)")
                    try run.expect(
                        equal.contains { $0[corpus.column] == value },
                        "\(value.exactDescription) is found by its value.")
                }
            }
        }
    }

    /// Returns an item for each string of the corpus; the id is the string's number.
    private static func items(_ fields: (CorpusText) -> [String: ItemValue]) -> [Item] {
        CorpusText.all.enumerated().map { Item(id: Fixture.number($0), fields: fields($1)) }
    }
}

extension RuleRun {
    fileprivate func ids(where filter: Filter) throws -> [String] {
        try find(TableQuery("Thing").where(filter)).items.map(\.id)
    }
}
