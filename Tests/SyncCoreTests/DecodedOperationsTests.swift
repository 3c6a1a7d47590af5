// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@_spi(StoreAuthor) @testable import SyncCore

/// ``DecodedOperations``: an operation is decoded again when its stored form or its place has changed.
@Suite struct DecodedOperationsTests {
    private let decoded = DecodedOperations()
    private let row = Item(
        id: "a",
        fields: [
            "n": .int(.max), "d": .double(-0.0), "t": .text("e\u{301}"), "none": .null,
            "b": .data(Data([0, 255])), "list": .array([.bool(true), .object(["k": .int(1)])]),
            "at": .date(Timestamp("2026-01-01T00:00:00.120Z")!),
        ],
        system: SystemProperties(
            updatedAt: Timestamp("2026-01-01T00:00:00.1234567Z"), version: "1", deleted: true))

    private func read(
        _ bytes: String, id: Int64 = 1, table: String = "T", itemID: String = "a"
    ) throws -> TableOperation {
        try Data(bytes.utf8).withUnsafeBytes {
            try decoded.operation(id: id, table: table, itemID: itemID, storedProperties: $0)
        }
    }

    private func add(_ operation: TableOperation, _ bytes: String) {
        Data(bytes.utf8).withUnsafeBytes { decoded.add(operation, storedProperties: $0) }
    }

    @Test func `an operation in the same stored form is not decoded`() throws {
        let operation = TableOperation(id: 1, table: "T", itemID: "a", kind: .delete)
        // This form cannot be decoded.
        add(operation, "same")
        #expect(try read("same") == operation)
        for other in ["sama", "same ", ""] {
            #expect(throws: StoreError.self) { try read(other) }
        }
    }

    @Test func `an operation with another id, table or item is decoded`() {
        add(TableOperation(id: 1, table: "é", itemID: "é", kind: .delete), "same")
        #expect(throws: Never.self) { try read("same", table: "é", itemID: "é") }
        for (id, table, itemID) in [
            (2, "é", "é"), (1025, "é", "é"), (1, "e\u{301}", "é"), (1, "é", "e\u{301}"),
        ]
            as [(Int64, String, String)]
        {
            #expect(throws: StoreError.self) { try read("same", id: id, table: table, itemID: itemID) }
        }
    }

    @Test func `the last of a thousand operations are found, and a long one is not kept`() throws {
        for id in 1...Int64(2000) {
            add(TableOperation(id: id, table: "T", itemID: "a", kind: .insert), "same")
        }
        for id in 1001...Int64(2000) { #expect(try read("same", id: id).id == id) }
        let long = String(repeating: "x", count: 5000)
        add(TableOperation(id: 1, table: "T", itemID: "a", kind: .insert), long)
        #expect(throws: StoreError.self) { try read(long) }
    }

    @Test func `a decoded operation is the one that was written`() throws {
        var operation = TableOperation(
            id: 7, table: "T", itemID: "a", kind: .update, state: .parked, revision: 3, refusals: 2,
            lastAttempt: Timestamp("2026-01-01T00:00:00.123456789Z"), lastStatus: 500, base: row,
            version: "1",
            serverItem: row, deletedItem: row,
            sent: TableOperation.SentSnapshot(kind: .insert, fields: row.fields, version: "2"),
            replaces: true, isAdopted: true, changedAt: Timestamp("1970-01-01T00:00:00Z"))
        operation.base?.system.supersededVersions = ["x", ""]
        operation.base?.system.undeclared = ["more": ItemValue.double(.greatestFiniteMagnitude)]
        for kind in TableOperation.Kind.allCases {
            for state in TableOperation.State.allCases {
                (operation.kind, operation.state) = (kind, state)
                let stored = try TableOperation(
                    id: 7, table: "T", itemID: "a", storedProperties: operation.storedProperties)
                #expect(stored == operation)
                #expect(stored.storedProperties == operation.storedProperties)
            }
        }
        let least = TableOperation(id: 8, table: "T", itemID: "a", kind: .insert)
        #expect(
            try TableOperation(id: 8, table: "T", itemID: "a", storedProperties: least.storedProperties)
                == least)
    }
}
