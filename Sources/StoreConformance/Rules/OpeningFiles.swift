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
