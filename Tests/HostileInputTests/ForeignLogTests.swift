// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import StoreSQLite
import SyncCore
import TestSupport
import Testing

/// Write-ahead logs that lie beside a store's database when it is opened.
@Suite struct ForeignLogTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.file() }
    private var log: String { path + "-wal" }

    init() throws { directory = try TemporaryDirectory() }

    /// Makes a closed store with one item, and returns its bytes.
    private func closedStore(at path: String, _ id: String) throws -> Data {
        let store = try StoreKind.sqlite.open(at: path)
        try store.write { try $0.upsert([Item(id: id)], in: Thing.name) }
        try store.close()
        return try contents(path)
    }

    private func contents(_ path: String) throws -> Data { try Data(contentsOf: URL(filePath: path)) }

    private func ids() throws -> [String] {
        let store = try StoreKind.sqlite.open(at: path)
        let items = try store.read { try $0.items(matching: Thing.query).items }
        try store.close()
        return items.map(\.id)
    }

    /// Expects that an opening with this log is refused and changes nothing, and that the store is intact without the log.
    private func expectRefusal(of foreign: Data) throws {
        let database = try closedStore(at: path, "mine")
        try foreign.write(to: URL(filePath: log))
        for _ in 0..<2 {
            let error = #expect(throws: StoreError.self) { try StoreKind.sqlite.open(at: path) }
            #expect(error?.code == .corrupt)
            #expect(try contents(path) == database)
            #expect(try contents(log) == foreign)
        }
        try FileManager.default.removeItem(atPath: log)
        #expect(try ids() == ["mine"])
    }

    @Test(arguments: [0, 7])
    func `the log of another program is refused, and nothing is changed`(applicationID: Int) throws {
        let other = directory.file("other")
        let pool = try DatabasePool(path: other)
        try pool.write { database in
            try database.execute(
                sql:
                    "PRAGMA application_id = \(applicationID); CREATE TABLE Theirs(a); INSERT INTO Theirs VALUES(1)"
            )
        }
        let foreign = try contents(other + "-wal")
        try pool.close()
        try expectRefusal(of: foreign)
    }

    @Test func `the log of another store is refused, and nothing is changed`() throws {
        let other = directory.file("other")
        let store = try StoreKind.sqlite.open(at: other)
        try store.write { try $0.upsert([Item(id: "theirs")], in: Thing.name) }
        let foreign = try contents(other + "-wal")
        try store.close()
        try expectRefusal(of: foreign)
    }

    @Test(arguments: [false, true])
    func `the log that a killed process has left is read`(isReopened: Bool) throws {
        let other = directory.file("other")
        if isReopened { _ = try closedStore(at: other, "first") }
        let store = try StoreKind.sqlite.open(at: other)
        try store.write { try $0.upsert([Item(id: "last")], in: Thing.name) }
        try contents(other).write(to: URL(filePath: path))
        try contents(other + "-wal").write(to: URL(filePath: log))
        try store.close()
        #expect(try ids() == (isReopened ? ["first", "last"] : ["last"]))
    }

    @Test func `a log that is not intact is ignored`() throws {
        _ = try closedStore(at: path, "mine")
        try Data((0..<10_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }).write(to: URL(filePath: log))
        #expect(try ids() == ["mine"])
    }
}
