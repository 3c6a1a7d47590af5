// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Synchronization
import TableServer
import Testing

/// A page that a suspended app stores in a file which another process has changed meanwhile.
@Suite struct SharedStorePageTests {
    @Test func `a page that was requested long before another process's commit is requested again`()
        async throws
    {
        try await Scenario.run(on: .sqlite) { scenario in
            try await scenario.putRows(3, interval: .seconds(1))
            let clock = Mutex(Timestamp.unixEpoch)
            let first = scenario.device(on: try scenario.sharedStore(), name: "A")
            let second = scenario.device(on: try scenario.sharedStore(), name: "B") {
                $0.now = { clock.withLock { $0 } }
            }
            var pages = second.context.pulling(Todo.query, queryID: "all", settings: .pages(of: 1))
                .makeAsyncIterator()
            _ = try await pages.next()
            try await first.table.insert(["id": "new"])
            clock.withLock { $0 = $0.advanced(by: .seconds(3601)) }
            while try await pages.next() != nil {}
            let paths = scenario.server.requests.filter(\.isPage).map(\.query)
            #expect(paths.count > Set(paths).count)
            #expect(try await second.table.items().count == 4)
            try await first.context.close()
            try await second.context.close()
        }
    }
}
