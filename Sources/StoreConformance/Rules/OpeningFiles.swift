// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

extension StoreRule {
    /// Openings that are refused, and the files at their paths.
    @RuleList static var openingFiles: [StoreRule] {
        StoreRule(
            "open.no-directory",
            "Opening in a directory that does not exist throws cannotOpen and creates nothing.",
            level: .durable, requirement: .files
        ) { run in
            for name in ["missing", "missing/nested"] {
                try run.expect(throws: .cannotOpen, "opening in the missing directory '\(name)'") {
                    try run.open(inMissingDirectory: name)
                }
                try run.expect(
                    FileManager.default.fileExists(atPath: "\(run.directory)/missing"), is: false,
                    "whether the missing directory '\(name)' exists afterwards")
            }
            try run.with("missing") { store in
                try store.write { try $0.upsert([Item(id: "a")], in: "Thing") }
                try run.expect(
                    try store.read { try $0.item(id: "a", in: "Thing") }, is: Item(id: "a"),
                    "the item after the directory was created")
            }
        }
        StoreRule(
            "open.refused-leaves-no-files",
            "An opening that is refused because of invalid tables creates no files.",
            level: .durable, requirement: .files
        ) { run in
            try run.with("existing") { try $0.write { try $0.upsert([Item(id: "a")], in: "Thing") } }
            let existing = try run.files("existing")
            for (index, tables) in Self.invalidTables.enumerated() {
                let new = "new\(index)"
                for name in [new, "existing"] {
                    try run.expect(
                        throws: .invalidTableDefinition, "opening '\(name)' with the invalid tables \(index)"
                    ) {
                        try run.open(name, tables: tables)
                    }
                }
                try run.expect(try run.files(new), is: [], "the files of the refused opening \(index)")
                try run.expect(
                    try run.files("existing"), is: existing,
                    "the files of an existing store after the refused opening \(index)")
            }
        }
        StoreRule(
            "open.path", "A path may have any characters, and names one file.",
            level: .durable, requirement: .files
        ) { run in
            let names = ["a b", "a%20b", "a#b", "a?b", "a'b", "a\"b", "a:b", "\u{e4}", "a"]
            for name in names {
                try run.with(name) { try $0.write { try $0.upsert([Item(id: name)], in: "Thing") } }
                try run.expect(try run.files(name).isEmpty, is: false, "whether '\(name)' has no files")
            }
            for name in names {
                let ids = try run.with(name) { store in
                    try store.read { try $0.items(matching: TableQuery("Thing")).items.map(\.id) }
                }
                try run.expect(ids, is: [name], "the items of the store in '\(name)'")
            }
        }
        StoreRule(
            "open.link",
            "A symbolic link to the file of an open store is refused, or is another opening of the same store.",
            level: .durable, requirement: .files
        ) { run in
            try run.put([Item(id: "first")])
            try FileManager.default.createSymbolicLink(
                atPath: try run.path("link"), withDestinationPath: try run.path())
            do {
                let second = try run.open("link")
                try run.expect(
                    second.capabilities.isMultiProcess, "A single-process store is not opened twice.")
                try second.write { try $0.upsert([Item(id: "second")], in: "Thing") }
                try run.expect(try run.ids(), is: ["first", "second"], "the ids in the first opening")
                let locks = [try run.store.tryLockPush(), try run.store.tryLockSync()]
                try run.expect(try second.tryLockPush() == nil, "The push lock is one for both paths.")
                try run.expect(try second.tryLockSync() == nil, "The sync lock is one for both paths.")
                for lock in locks { lock?.release() }
            } catch let error as StoreError {
                try run.expect(
                    [.alreadyOpen, .cannotOpen].contains(error.code),
                    "The error is alreadyOpen or cannotOpen: \(error)")
            }
            try run.put([Item(id: "third")])
            try run.expect(try run.item("third")?.id, is: "third", "the next write in the first opening")
        }
        StoreRule(
            "durable.foreign-file",
            "A file of any size that is not a store is refused with corrupt or cannotOpen, and is not changed.",
            level: .durable, requirement: .files
        ) { run in
            // Some stores and databases take a file that is shorter than their header for a new one.
            for size in [10_000, 1, 2, 7, 16, 100, 511, 512, 4096] {
                let text = Data(String(repeating: "~ This is not a store. ", count: 500).utf8.prefix(size))
                let path = try run.path("foreign\(size)")
                try text.write(to: URL(fileURLWithPath: path))
                try run.expectError(
                    "StoreError.corrupt or .cannotOpen", "opening a foreign file of the size \(size)",
                    { try run.open("foreign\(size)") }
                ) {
                    [.corrupt, .cannotOpen].contains(($0 as? StoreError)?.code)
                }
                try run.expect(
                    FileManager.default.contents(atPath: path), is: text,
                    "the file of the size \(size) afterwards")
            }
        }
    }

    private static let invalidTables = [
        [SyncTableDefinition("a b", columns: [])],
        [SyncTableDefinition("T", columns: [SyncColumn("id", .text)])],
        ["T", "t"].map { SyncTableDefinition($0, columns: []) },
        [SyncTableDefinition("T", columns: [SyncColumn("c", .text), SyncColumn("C", .text)])],
    ]
}

extension RuleRun {
    /// Returns the names of the files beside the store, in order.
    fileprivate func files(_ name: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "\(directory)/\(name)").sorted()
    }
}
