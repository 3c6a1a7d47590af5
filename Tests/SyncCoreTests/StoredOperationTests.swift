// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@_spi(StoreAuthor) @testable import SyncCore

/// The stored forms of an operation: bytes, JSON, and JSON beside rows.
@Suite struct StoredOperationTests {
    private static let operations = OperationForms.operations

    private func bytes(_ write: (inout ByteWriter) -> Void) -> [UInt8] {
        var bytes = ByteWriter()
        write(&bytes)
        return bytes.array
    }

    private func read(_ bytes: [UInt8], id: Int64 = 7) throws -> TableOperation {
        try bytes.withUnsafeBytes { try TableOperation(id: id, table: "T", itemID: "a", bytes: $0) }
    }

    @Test(arguments: operations)
    func `an operation that is read is the one that was written, in each form`(
        operation: TableOperation
    ) throws {
        #expect(try read(bytes(operation.appendBytes), id: operation.id) == operation)
        #expect(try read(Array(operation.storedProperties), id: operation.id) == operation)
        let properties = bytes(operation.appendStoredPropertiesWithoutRows)
        let rows = operation.hasRows ? bytes(operation.appendRows) : []
        let stored = try properties.withUnsafeBytes { properties in
            try rows.withUnsafeBytes {
                try DecodedOperations().operation(
                    id: operation.id, table: "T", itemID: "a", stored: .properties(properties, rows: $0))
            }
        }
        #expect(stored == operation)
        #expect(stored.storedProperties == operation.storedProperties)
    }

    @Test func `a counter that could overflow is damaged, in each form`() throws {
        for counter in [\TableOperation.revision, \.refusals] {
            var operation = Self.operations[1]
            operation[keyPath: counter] = .max
            for form in [bytes(operation.appendBytes), Array(operation.storedProperties)] {
                let error = #expect(throws: StoreError.self) { try read(form) }
                #expect(error?.code == .corrupt)
            }
        }
    }

    @Test func `each truncated form, and one with a byte too many, is damaged`() throws {
        let whole = bytes(Self.operations[1].appendBytes)
        for count in 0..<whole.count {
            let error = #expect(throws: StoreError.self) { try read(Array(whole.prefix(count))) }
            #expect(error?.code == .corrupt)
        }
        #expect(throws: StoreError.self) { try read(whole + [0]) }
    }

    @Test func `each changed byte gives an operation or an error that names it`() throws {
        let whole = bytes(Self.operations[1].appendBytes)
        var errors = 0
        for index in whole.indices {
            for bit in 0..<8 {
                var changed = whole
                changed[index] ^= 1 << bit
                do { _ = try read(changed) } catch {
                    let error = try #require(error as? StoreError)
                    #expect(error.code == .corrupt)
                    #expect(error.message.contains("operation 7"))
                    errors += 1
                }
            }
        }
        #expect(errors > whole.count)
    }
}
