// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreMemory
import SyncCore
import Testing

@Suite struct MemoryClosingTests {
    @Test func `a closed store returns no lock`() throws {
        let store = try MemoryStore(tables: [])
        try #require(try store.tryLockPush()).release()
        try #require(try store.tryLockSync()).release()
        store.close()
        for acquire in [store.tryLockPush, store.tryLockSync] {
            let error = #expect(throws: StoreError.self) { try acquire() }
            #expect(error?.code == .closed)
        }
    }
}
