// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import TestSupport
import Testing

/// Numbers in a store's file at the end of their range.
@Suite struct StoredCounterTests {
    @Test(arguments: StoreKind.allCases)
    func `a change is refused when no operation id is left`(_ kind: StoreKind) async throws {
        try await Client.run(on: kind) { client in
            try client.store.write { transaction in
                try transaction.put(
                    TableOperation(id: .max, table: Thing.name, itemID: "a", kind: .insert))
                try transaction.removeOperation(id: .max)
            }
            let error = await #expect(throws: SyncError.self) { try await client.table.insert(["id": "1"]) }
            #expect((error?.cause as? StoreError)?.code == .corrupt)
            #expect(try await client.table.items().isEmpty)
            #expect(try await client.context.pendingOperations().isEmpty)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `no operations are read with a limit below one`(_ kind: StoreKind) async throws {
        try await Client.run(on: kind) { client in
            try await client.table.insert(["id": "1"])
            for limit in [0, -1, .min] {
                let found = try client.store.read { try $0.operations(after: 0, in: nil, limit: limit) }
                #expect(found.isEmpty)
            }
        }
    }
}
