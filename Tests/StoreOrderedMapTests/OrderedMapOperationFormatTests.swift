// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreOrderedMap
@_spi(StoreAuthor) import SyncCore
import TestSupport
import Testing

/// Maps of layout 2, which keeps operations as JSON.
@Suite struct OrderedMapOperationFormatTests {
    @Test func `operations of layout 2 are read, and get the current form with their next change`() throws {
        let map = SortedArrayMap()
        func open() throws -> OrderedMapStore { try OrderedMapStore(on: map, tables: []) }
        let operations = OperationForms.operations
        try open().write { transaction in for operation in operations { try transaction.put(operation) } }
        try map.write { map in
            var format = try #require(try map.get(Array("F".utf8)) { Array($0) })
            #expect(format.last == 3)
            format[format.count - 1] = 2
            try map.put(format, for: Array("F".utf8))
            for operation in operations {
                var key = ByteWriter()
                var value = ByteWriter()
                key.append("O")
                key.append(ordered: operation.id)
                value.append(counted: "T")
                value.append(counted: "a")
                operation.storedProperties.withUnsafeBytes { value.append($0) }
                try map.put(value.array, for: key.array)
            }
        }
        let store = try open()
        try #expect(store.read { try $0.operations(after: 0, in: nil, limit: 99) } == operations)
        let sizes = try map.entries().map(\.value.count)
        try store.write { transaction in for operation in operations { try transaction.put(operation) } }
        try #expect(store.read { try $0.operations(after: 0, in: nil, limit: 99) } == operations)
        try #expect(map.entries().map(\.value.count) != sizes)
    }
}
