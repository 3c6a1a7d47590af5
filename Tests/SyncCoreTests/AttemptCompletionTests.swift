// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreMemory
import Testing

@testable import SyncCore

/// What the outcome of an attempt and later local writes change in the store.
@Suite struct AttemptCompletionTests {
    private static let definition = SyncTableDefinition(
        "T",
        columns: [
            SyncColumn("a", .integer), SyncColumn("b", .integer),
            SyncColumn("note", .text, isLocalOnly: true),
        ])

    private let store: MemoryStore

    init() throws { store = try MemoryStore(tables: [Self.definition]) }

    private func write<T>(
        inFlight: Set<Int64> = [], _ body: (LocalWrite, AttemptCompletion) throws -> T
    ) throws -> T {
        try store.write { transaction in
            let write = LocalWrite(
                transaction: transaction, definition: Self.definition,
                inFlight: InFlightSnapshot(sent: inFlight), now: .unixEpoch)
            let completion = AttemptCompletion(
                transaction: transaction, definition: Self.definition,
                operationID: try transaction.operations(after: 0, in: nil, limit: 1).first?.id ?? 0)
            return try body(write, completion)
        }
    }

    private var operations: [TableOperation] {
        get throws { try store.read { try $0.operations(after: 0, in: nil, limit: .max) } }
    }

    private var item: Item? { get throws { try store.read { try $0.item(id: "x", in: "T") } } }

    private func row(_ fields: [String: ItemValue], version: String, second: Int = 1) -> Item {
        let time = Timestamp.unixEpoch.advanced(by: .seconds(second))
        return Item(id: "x", fields: fields, system: SystemProperties(updatedAt: time, version: version))
    }

    private func sent(_ kind: TableOperation.Kind, _ fields: [String: ItemValue])
        -> TableOperation.SentSnapshot
    {
        TableOperation.SentSnapshot(kind: kind, fields: fields, version: nil)
    }

    @Test func `an insert that was never sent is removed together with the delete behind it`() throws {
        try write { write, _ in _ = try write.insert(id: "x", fields: ["a": 1]) }
        try write(inFlight: [1]) { write, _ in try write.delete(id: "x", madeOn: nil) }
        #expect(try operations.map(\.kind) == [.insert, .delete])
        try write { _, completion in try completion.mergeBehind() }
        #expect(try operations.isEmpty)
    }

    @Test func `a delete behind an update that was not sent names the version that the update was made on`()
        throws
    {
        try store.write { try $0.upsert([row(["a": 1], version: "v1")], in: "T") }
        try write { write, _ in
            try write.delete(id: "x", madeOn: nil)
            _ = try write.insert(id: "x", fields: ["a": 2])
        }
        try write(inFlight: [1]) { write, _ in try write.delete(id: "x", madeOn: nil) }
        #expect(try operations.map(\.kind) == [.update, .delete])
        try write { _, completion in _ = try completion.removeUnneeded() }
        #expect(try operations.map(\.kind) == [.delete])
        #expect(try operations.first?.version == "v1")
        #expect(try operations.first?.base?.fields == ["a": 1])
    }

    @Test func `an update behind one that was not sent is made on the row that the first was made on`() throws
    {
        try store.write { try $0.upsert([row(["a": 1], version: "v1")], in: "T") }
        try write { write, _ in _ = try write.change(id: "x", fields: ["a": 2]) }
        // The user takes the change back, so that nothing remains to be sent.
        try write(inFlight: [1]) { write, _ in _ = try write.change(id: "x", fields: ["a": 1]) }
        try write { _, completion in _ = try completion.removeUnneeded() }
        let behind = try #require(try operations.first)
        #expect(try operations.count == 1)
        #expect(behind.version == "v1")
        #expect(behind.base?.fields == ["a": 1])
        let attempt = behind.nextAttempt(
            item: try item, definition: Self.definition, sendsChangedFieldsOnly: true)
        #expect(attempt == nil)
    }

    @Test func `completing an operation rebases the one behind on the new version, without attempts`() throws
    {
        try write { write, _ in _ = try write.insert(id: "x", fields: ["a": 1, "note": "n"]) }
        try write(inFlight: [1]) { write, _ in _ = try write.change(id: "x", fields: ["b": 2]) }
        try write { _, completion in
            _ = try completion.complete(
                with: row(["a": 1, "b": 0], version: "v1"), sent: sent(.insert, ["a": 1]))
        }
        let behind = try #require(try operations.first)
        #expect(try operations.count == 1)
        #expect(behind.version == "v1")
        #expect(behind.base?.fields == ["a": 1, "b": 0])
        #expect(try item?.fields == ["a": 1, "b": 2, "note": "n"])
        #expect(try item?.system.version == "v1")
    }

    @Test func `completing an operation keeps a later row that a pull has stored`() throws {
        try write { write, _ in _ = try write.insert(id: "x", fields: ["a": 1]) }
        try write { _, completion in
            _ = try ServerRowApplier(transaction: completion.transaction, definition: Self.definition)
                .apply(row(["a": 9], version: "v2", second: 2))
        }
        #expect(try operations.first?.serverItem?["a"] == 9)
        try write { _, completion in
            _ = try completion.complete(with: row(["a": 1], version: "v1"), sent: sent(.insert, ["a": 1]))
        }
        #expect(try operations.isEmpty)
        #expect(try item?.fields == ["a": 9])
        #expect(try item?.system.version == "v2")
    }

    @Test func `completing an operation keeps a row that a pull has stored after the one that was fetched`()
        throws
    {
        try write { write, _ in _ = try write.insert(id: "x", fields: ["a": 1]) }
        let fetched = row(["a": 8], version: "v2")
        for pulled in [fetched, row(["a": 9], version: "v3", second: 2)] {
            try write { _, completion in
                _ = try ServerRowApplier(transaction: completion.transaction, definition: Self.definition)
                    .apply(pulled)
            }
        }
        try write { _, completion in
            _ = try completion.complete(
                with: row(["a": 1], version: "v1"), sent: sent(.insert, ["a": 1]), known: fetched,
                receivedSince: fetched)
        }
        #expect(try operations.isEmpty)
        #expect(try item?.system.version == "v3")
    }

    @Test func `only refusals count towards parking`() throws {
        try write { write, _ in _ = try write.insert(id: "x", fields: ["a": 1]) }
        for _ in 0..<3 {
            try write { _, completion in
                _ = try completion.fail(mayBeApplied: true, status: nil, parkAfter: nil)
            }
        }
        #expect(try operations.first?.refusals == 0)
        #expect(try operations.first?.state == .attempted)
        for _ in 0..<2 {
            try write { _, completion in
                _ = try completion.fail(mayBeApplied: false, status: 400, parkAfter: 2)
            }
        }
        #expect(try operations.first?.refusals == 2)
        #expect(try operations.first?.state == .parked)
    }

    @Test func `replaced versions of this client are stored, up to a limit`() throws {
        try write { write, _ in _ = try write.insert(id: "x", fields: ["a": 0]) }
        for number in 1...20 {
            try write { _, completion in
                let row = row(["a": .int(Int64(number))], version: "v\(number)")
                _ = try completion.complete(with: row, sent: sent(.update, ["a": .int(Int64(number - 1))]))
            }
            try write { write, _ in _ = try write.change(id: "x", fields: ["a": .int(Int64(number))]) }
        }
        let superseded = try #require(try item).system.supersededVersions
        #expect(superseded.last == "v19")
        #expect(superseded.count == SystemProperties.maxSupersededVersions)
    }

    @Test func `a local change of equal values and local-only columns sends nothing`() throws {
        let known = row(["a": 1], version: "v1")
        try store.write { try $0.upsert([known], in: "T") }
        try write { write, _ in _ = try write.change(id: "x", fields: ["a": 1, "note": "n"]) }
        #expect(try operations.isEmpty)
        #expect(try item?["note"] == "n")
        try write { write, _ in _ = try write.change(id: "x", fields: ["a": 1]) }
        let operation = try #require(try operations.first)
        for changedOnly in [true, false] {
            let attempt = operation.nextAttempt(
                item: try item, definition: Self.definition, sendsChangedFieldsOnly: changedOnly)
            #expect(attempt == nil)
        }
    }

    @Test func `an item that was inserted again gets no field of the row that was there before`() throws {
        let lost = sent(.update, ["a": 1])
        try store.write { transaction in
            try transaction.upsert([Item(id: "x", fields: ["a": 2])], in: "T")
            try transaction.put(
                TableOperation(
                    id: 1, table: "T", itemID: "x", kind: .update, state: .attempted, sent: lost,
                    replaces: true))
        }
        try write { _, completion in
            _ = try completion.complete(
                with: row(["a": 1, "b": 5], version: "v2"), sent: lost, isProven: true)
        }
        #expect(try item?.fields["b"] == nil)
        let next = try operations.first?.nextAttempt(
            item: try item, definition: Self.definition, sendsChangedFieldsOnly: true)
        #expect(next?.fields == ["a": 2, "b": .null])
    }

    /// Applies a decision about an insert with an edit behind it. The error shows the item with the edit.
    private func decide(
        _ code: SyncError.Code, serverItem: Item?, _ decide: (DecisionEffect) throws -> Void
    ) throws {
        try write { write, _ in _ = try write.insert(id: "x", fields: ["a": 1]) }
        try write(inFlight: [1]) { write, _ in _ = try write.change(id: "x", fields: ["b": 2]) }
        let operation = try #require(try operations.first)
        let error = TableOperationError(
            operation, item: try item, serverItem: serverItem, code: code, message: "")
        try store.write { transaction in
            try transaction.put(error)
            try decide(
                DecisionEffect(
                    of: error, in: transaction, definition: Self.definition, dialect: .v2, inFlight: []))
        }
    }

    @Test func `keeping a refused insert keeps the edit behind it as a part of the insert`() throws {
        try decide(.serverError, serverItem: nil) { try $0.keepClient(nil) }
        #expect(try operations.map(\.kind) == [.insert])
        #expect(try item?.fields == ["a": 1, "b": 2])
    }

    @Test func `discarding an insert in conflict discards the edit behind it`() throws {
        let server = row(["a": 9], version: "v1")
        try decide(.itemAlreadyOnServer, serverItem: server) { try $0.keepServer(server) }
        #expect(try operations.isEmpty)
        #expect(try item?.fields == ["a": 9])
    }

    @Test func `the version of an item that was deleted and inserted again is recorded as replaced`() throws {
        try store.write { try $0.upsert([row(["a": 1], version: "v1")], in: "T") }
        try write { write, _ in
            try write.delete(id: "x", madeOn: nil)
            _ = try write.insert(id: "x", fields: ["a": 2])
        }
        let sent = TableOperation.SentSnapshot(kind: .update, fields: ["a": 2], version: "v1")
        try write { _, completion in
            _ = try completion.complete(with: row(["a": 2], version: "v2"), sent: sent)
        }
        #expect(try item?.system.supersededVersions == ["v1"])
    }

    /// An undelete, whose response is lost, has made the pulled row; the update after it has replaced that row.
    @Test func `a pulled row that the applied request has replaced is not stored over the response`() throws {
        try store.write { try $0.upsert([row(["a": 1], version: "v2")], in: "T") }
        try write { write, _ in _ = try write.change(id: "x", fields: ["a": 2]) }
        try write { write, completion in
            var operation = try #require(try write.transaction.operation(id: completion.operationID))
            operation.serverItem = row(["a": 1], version: "v3")
            try write.transaction.put(operation)
            _ = try completion.complete(
                with: row(["a": 2], version: "v4"), sent: sent(.update, ["a": 2]),
                replacing: row(["a": 1], version: "v3"))
        }
        #expect(try item?.system.version == "v4")
        #expect(try item?.fields == ["a": 2])
        #expect(try item?.system.supersededVersions == ["v2", "v3"])
    }

    /// The row was deleted for good after the attempt to update it, and inserted again by this device.
    @Test func `an insert records no version of a row that is gone as replaced`() throws {
        try write { write, _ in _ = try write.insert(id: "x", fields: ["a": 2]) }
        let sent = TableOperation.SentSnapshot(kind: .update, fields: ["a": 2], version: "v2")
        try write { _, completion in
            _ = try completion.complete(with: row(["a": 2], version: "v1"), sent: sent)
        }
        #expect(try item?.system.supersededVersions == [])
    }
}

extension AttemptCompletion {
    /// Completes the stored operation.
    fileprivate func complete(
        with row: Item?, sent: TableOperation.SentSnapshot, known: Item? = nil,
        replacing replaced: Item? = nil, isProven: Bool = false, receivedSince newest: Item? = nil
    ) throws -> Item? {
        let operation = try #require(try transaction.operation(id: operationID))
        return try complete(
            operation, before: transaction.operation(behind: operation), with: row, sent: sent, known: known,
            replacing: replaced, isProven: isProven, receivedSince: newest)
    }
}
