// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import Testing

@Suite struct DocumentedKeysTests {
    @Test func `the article documents every key of the JSON`() async throws {
        let store = StoreFixture(.sqlite)
        try store.make { transaction in
            let row = Item(
                id: "a", fields: ["title": "1"], system: SystemProperties(version: "2"))
            try transaction.upsert([row], in: "Board")
            for id in Int64(1)...2 {
                try transaction.put(
                    TableOperation(
                        id: id, table: "Board", itemID: "a", kind: .update, state: .attempted,
                        lastAttempt: Timestamp(Date()), lastStatus: 500, base: row, version: "1",
                        serverItem: row,
                        sent: .init(kind: .update, fields: ["title": "1"], version: "1"),
                        changedAt: Timestamp(Date())))
            }
            try transaction.put(
                TableOperation(
                    id: 3, table: "Board", itemID: "b", kind: .delete, state: .parked, version: "1"))
            try transaction.put(
                TableOperationError(
                    operationID: 1, table: "Board", itemID: "a", kind: .update, item: row, serverItem: row,
                    status: 412, code: .preconditionFailed, message: "A conflict.", revision: 0))
            try transaction.setConfigValue(
                #"{"id":"a","instant":"open","query":"1","updatedAt":"2026-01-01T00:00:00.000Z"}"#,
                for: ConfigKey(table: "Board", kind: .deltaToken, name: "all"))
        }
        let output = try await Inspection.run(store.path(), "--json", "--values").output
        let keys = Self.keys(in: try JSONSerialization.jsonObject(with: Data(output.utf8)))
        let root = URL(filePath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let article = try String(
            contentsOf: root.appending(path: "Sources/SyncCore/Documentation.docc/InspectingAStore.md"),
            encoding: .utf8)
        #expect(keys.count > 40)
        #expect(keys.filter { !article.contains("`\($0)`") } == [])
    }

    /// Returns the keys of all objects, without the names of fields.
    private static func keys(in value: Any) -> Set<String> {
        switch value {
        case let object as [String: Any]:
            object.reduce(into: Set(object.keys)) { keys, member in
                if member.key != "values" { keys.formUnion(self.keys(in: member.value)) }
            }
        case let array as [Any]: array.reduce(into: []) { $0.formUnion(keys(in: $1)) }
        default: []
        }
    }
}
