// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import CFileFaults
import Foundation
import StoreLMDB
import StoreSQLite
import SyncCore
import TestSupport

/// A process that tests kill, or that opens damaged files: `sync-child COMMAND STORE PATH …`.
///
/// It prints a line for each call that has returned, and ends with status 0, or with status 2 after an error of a store,
/// whose code it prints.
@main struct SyncChild {
    static func main() async throws {
        var arguments = CommandLine.arguments.dropFirst()
        func next() -> String { arguments.popFirst() ?? "" }
        let (command, kind, path) = (next(), next(), next())
        do {
            switch command {
            case "probe": try probe(kind, path)
            case "fail": try fail(kind, path, at: Int64(next()) ?? 0)
            case "fill": try fill(kind, path, limit: UInt(next()) ?? 0)
            default:
                let server = URL(string: next())
                let (faultKind, argument) = (next(), next())
                let directory = URL(filePath: path).deletingLastPathComponent().path
                switch faultKind {
                case "kill": file_faults_kill_at(directory, Int64(argument) ?? 0, true)
                case "record": file_faults_record(directory, argument)
                default: break
                }
                try await SyncScript(kind: kind, path: path, server: server).run(command)
            }
        } catch let error as StoreError {
            print("error \(error.code)")
            exit(2)
        }
    }

    /// Prints a line and flushes it, so that the parent has it when this process is killed.
    static func acknowledge(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }

    static let tables = [
        SyncTableDefinition(
            "Thing", columns: [SyncColumn("text", .text, isIndexed: true), SyncColumn("integer", .integer)])
    ]

    static func open(
        _ kind: String, _ path: String, tables: [SyncTableDefinition] = tables
    ) throws -> any SyncContextDataSource {
        switch kind {
        case "sqlite": try SQLiteStore(path: path, tables: tables)
        case "sqlite-relaxed": try SQLiteStore(path: path, tables: tables, synchronous: .normal)
        default: try LMDBStore(path: path, tables: tables)
        }
    }

    /// Reads everything, writes and deletes items, and closes the store.
    private static func probe(_ kind: String, _ path: String) throws {
        let store = try open(kind, path)
        let items = try store.read { snapshot in
            _ = try snapshot.operations(after: 0, in: nil, limit: .max)
            _ = try snapshot.operationErrors(in: nil)
            _ = try snapshot.configValues(in: "Thing", kind: .deltaToken)
            return try snapshot.items(matching: TableQuery("Thing")).items
        }
        try store.write { transaction in
            try transaction.upsert(items.map { Item(id: "new-\($0.id)", fields: $0.fields) }, in: "Thing")
            try transaction.deleteItems(ids: items.map(\.id), in: "Thing")
        }
        try store.write { try $0.upsert([Item(id: "probe")], in: "Thing") }
        try store.close()
        print("items \(items.count)")
    }

    /// Writes items while one call of the file system fails, and prints what each write has thrown.
    private static func fail(_ kind: String, _ path: String, at number: Int64) throws {
        let store = try open(kind, path)
        func write(_ index: Int) throws {
            let fields: [String: ItemValue] = [
                "text": .text(String(repeating: "\(index)", count: 100 * index))
            ]
            try store.write { try $0.upsert([Item(id: "\(index)", fields: fields)], in: "Thing") }
        }
        file_faults_fail_at(URL(filePath: path).deletingLastPathComponent().path, number)
        for index in 0..<4 {
            do {
                try write(index)
                print("stored \(index)")
            } catch let error as StoreError {
                print("\(error.code) \(index)")
            }
        }
        let didFail = file_faults_count() >= number
        file_faults_fail_at("", 0)
        try write(4)
        let ids = try store.read { try $0.items(matching: TableQuery("Thing")).items.map(\.id) }
        print("kept \(ids.joined(separator: ","))")
        try store.close()
        print("failed \(didFail)")
    }

    /// Writes items until the file may not grow, then reads them, deletes them and writes again.
    private static func fill(_ kind: String, _ path: String, limit: UInt) throws {
        let store = try open(kind, path)
        let unlimited = try setFileSizeLimit(rlim_t(limit))
        var written = 0
        do {
            while written < 10_000 {
                let text = ItemValue.text(String(repeating: "\(written) ", count: 400))
                try store.write { transaction in
                    try transaction.upsert([Item(id: "\(written)", fields: ["text": text])], in: "Thing")
                    try transaction.put(
                        TableOperation(
                            id: transaction.lastOperationID() + 1, table: "Thing", itemID: "\(written)",
                            kind: .insert))
                }
                written += 1
            }
        } catch let error as StoreError {
            print("refused \(error.code)")
        }
        let (items, operations) = try store.read { snapshot in
            (
                try snapshot.items(matching: TableQuery("Thing")).items.count,
                try snapshot.operationCount(in: nil)
            )
        }
        print("kept \(items == written && operations == written && written > 0)")
        _ = try setFileSizeLimit(unlimited)
        try store.write { try $0.upsert([Item(id: "after")], in: "Thing") }
        try store.close()
        let count = try open(kind, path).read { try $0.items(matching: TableQuery("Thing")).items.count }
        print("reopened \(count == written + 1)")
    }
}
