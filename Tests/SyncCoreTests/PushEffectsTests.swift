// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreMemory
import Testing

@testable import SyncCore

/// What attempts and local writes change in the store, step by step.
@Suite struct PushEffectsTests {
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
                transaction: transaction, definition: Self.definition, inFlight: inFlight, now: .unixEpoch)
            let effects = AttemptCompletion(
                transaction: transaction, definition: Self.definition,
                operationID: try transaction.operations(after: 0, in: nil, limit: 1).first?.id ?? 0)
            return try body(write, effects)
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

    @Test func `an insert that was never sent takes the delete behind it along`() throws {
        try write { write, _ in _ = try write.insert(id: "x", fields: ["a": 1]) }
        try write(inFlight: [1]) { write, _ in try write.delete(id: "x", madeOn: nil) }
        #expect(try operations.map(\.kind) == [.insert, .delete])
        try write { _, effects in _ = try effects.dropUnneeded() }
        #expect(try operations.isEmpty)
    }

    @Test func `an answer rebases the operation behind, with its version and without the attempts`() throws {
        try write { write, _ in _ = try write.insert(id: "x", fields: ["a": 1, "note": "n"]) }
        try write(inFlight: [1]) { write, _ in _ = try write.change(id: "x", fields: ["b": 2]) }
        try write { _, effects in
            _ = try effects.complete(
                with: row(["a": 1, "b": 0], version: "v1"), sent: sent(.insert, ["a": 1]))
        }
        let behind = try #require(try operations.first)
        #expect(try operations.count == 1)
        #expect(behind.version == "v1")
        #expect(behind.base?.fields == ["a": 1, "b": 0])
        #expect(try item?.fields == ["a": 1, "b": 2, "note": "n"])
        #expect(try item?.system.version == "v1")
    }

    @Test func `an answer leaves a later row that a pull has brought in place`() throws {
        try write { write, _ in _ = try write.insert(id: "x", fields: ["a": 1]) }
        try write { _, effects in
            _ = try ServerRowApplier(transaction: effects.transaction, definition: Self.definition)
                .apply(row(["a": 9], version: "v2", second: 2))
        }
        #expect(try operations.first?.serverItem?["a"] == 9)
        try write { _, effects in
            _ = try effects.complete(with: row(["a": 1], version: "v1"), sent: sent(.insert, ["a": 1]))
        }
        #expect(try operations.isEmpty)
        #expect(try item?.fields == ["a": 9])
        #expect(try item?.system.version == "v2")
    }

    @Test func `only refusals count towards parking`() throws {
        try write { write, _ in _ = try write.insert(id: "x", fields: ["a": 1]) }
        for _ in 0..<3 {
            try write { _, effects in _ = try effects.fail(isApplied: nil, status: nil, parkingAfter: nil) }
        }
        #expect(try operations.first?.attempts == 0)
        #expect(try operations.first?.state == .attempted)
        for _ in 0..<2 {
            try write { _, effects in _ = try effects.fail(isApplied: false, status: 400, parkingAfter: 2) }
        }
        #expect(try operations.first?.attempts == 2)
        #expect(try operations.first?.state == .parked)
    }

    @Test func `own versions that were replaced are remembered, and not too many`() throws {
        try write { write, _ in _ = try write.insert(id: "x", fields: ["a": 0]) }
        for number in 1...20 {
            try write { _, effects in
                let row = row(["a": .int(Int64(number))], version: "v\(number)")
                _ = try effects.complete(with: row, sent: sent(.update, ["a": .int(Int64(number - 1))]))
            }
            try write { write, _ in _ = try write.change(id: "x", fields: ["a": .int(Int64(number))]) }
        }
        let superseded = try #require(try item).system.supersededVersions
        #expect(superseded.last == "v19")
        #expect(superseded.count == SystemProperties.maxSupersededVersions)
    }

    @Test func `local changes without an effect on the server send nothing`() throws {
        let known = row(["a": 1], version: "v1")
        try store.write { try $0.upsert([known], in: "T") }
        try write { write, _ in _ = try write.change(id: "x", fields: ["a": 1, "note": "n"]) }
        let operation = try #require(try operations.first)
        for changedOnly in [true, false] {
            let attempt = operation.nextAttempt(
                item: try item, definition: Self.definition, sendsChangedFieldsOnly: changedOnly)
            #expect(attempt?.fields == (changedOnly ? nil : ["a": 1]))
        }
    }
}
