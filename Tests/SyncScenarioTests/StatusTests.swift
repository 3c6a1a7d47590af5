// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import TableServer
import Testing

@Suite struct StatusTests {
    @Test(arguments: StoreKind.allCases)
    func `the status shows pending operations, a running push and the last result`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let device = try scenario.device("A")
            var statuses = device.context.observeStatus().makeAsyncIterator()
            #expect(try await statuses.next()?.pendingOperations == 0)
            try await device.table.insert(["text": "x"])
            #expect(try await statuses.next()?.pendingOperations == 1)

            let gate = RequestGate()
            scenario.server.inject(.hold(gate), .refusal(403))
            async let push = device.context.push()
            await gate.waitForArrivals()
            #expect(try await device.context.status().isPushing)
            gate.open()
            _ = try await push
            let done = try await device.context.status()
            #expect(!done.isPushing && done.pendingOperations == 0 && done.lastSuccess != nil)

            try await device.table.insert(["text": "y"])
            await expectError(.pushCompletedWithErrors) { try await device.context.push() }
            #expect(try await device.context.status().lastError?.code == .pushCompletedWithErrors)
            try await device.sync()
            #expect(try await device.context.status().lastError == nil)
        }
    }
}
