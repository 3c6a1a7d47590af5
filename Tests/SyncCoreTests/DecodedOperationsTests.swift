// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@_spi(StoreAuthor) @testable import SyncCore

/// ``DecodedOperations``: an operation is decoded again when its stored form or its place has changed.
@Suite struct DecodedOperationsTests {
    private let decoded = DecodedOperations()
    private func read(
        _ properties: String, _ rows: String = "", id: Int64 = 1, table: String = "T", itemID: String = "a"
    ) throws -> TableOperation {
        try Data(properties.utf8).withUnsafeBytes { properties in
            try Data(rows.utf8).withUnsafeBytes { rows in
                try decoded.operation(
                    id: id, table: table, itemID: itemID, stored: .properties(properties, rows: rows))
            }
        }
    }

    private func add(_ operation: TableOperation, _ properties: String, _ rows: String = "") {
        Data(properties.utf8).withUnsafeBytes { properties in
            Data(rows.utf8).withUnsafeBytes {
                decoded.add(operation, stored: .properties(properties, rows: $0))
            }
        }
    }

    @Test func `an operation in the same stored form is not decoded`() throws {
        let operation = TableOperation(id: 1, table: "T", itemID: "a", kind: .delete)
        // This form cannot be decoded.
        add(operation, "same")
        #expect(try read("same") == operation)
        for other in ["sama", "same ", ""] {
            #expect(throws: StoreError.self) { try read(other) }
        }
        add(operation, "same", "rows")
        #expect(try read("same", "rows") == operation)
        for (properties, rows) in [("same", ""), ("same", "row"), ("same", "rowz"), ("samero", "ws")] {
            #expect(throws: StoreError.self) { try read(properties, rows) }
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
}
