// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreConformance
import StoreMemory
import SyncModels
import Synchronization
import TableServer
import TestSupport
import Testing

/// Counters of devices that are offline at random times: if no response is lost, the sum is exact.
@Suite struct CounterSumTests {
    /// A transport that is connected or not.
    private final class SwitchedTransport: HTTPTransport {
        let isConnected = Mutex(true)

        func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
            guard isConnected.withLock(\.self) else {
                throw NetworkFailure(.unreachable, host: "server.example", port: 443)
            }
            return try await URLSessionTransport.patient.send(request)
        }
    }

    private struct Device {
        let context: SyncContext
        let transport = SwitchedTransport()

        init(of server: TableServer) throws {
            var settings = SyncSettings()
            settings.retry.maxAttempts = 1
            settings.resolveByField(Page.self)
            context = SyncContext(
                client: SyncClient(url: server.url, transport: transport),
                dataSource: try MemoryStore(tables: .models(Page.self)), settings: settings)
        }

        var pages: ModelTable<Page> { context.table(Page.self) }

        func count() async throws { try await pages.update("x") { $0.views += 1 } }
    }

    @Test(arguments: 1...12) func `devices that are offline at times count exactly`(_ seed: UInt64)
        async throws
    {
        var random = SeededGenerator(seed: seed)
        try await withTableServer(.init(tables: [.init("Page")])) { server in
            try await server.put("x", ["title": "A", "views": 0], in: "Page")
            let devices = try (0..<3).map { _ in try Device(of: server) }
            for device in devices { try await device.pages.pull() }
            var total = 0
            for _ in 0..<60 {
                let device = devices[Int.random(in: 0..<3, using: &random)]
                switch Int.random(in: 0..<6, using: &random) {
                case 0, 1:
                    try await device.count()
                    total += 1
                case 2: _ = try? await device.context.push()
                case 3: _ = try? await device.pages.pull()
                case 4: device.transport.isConnected.withLock { $0.toggle() }
                default:
                    // A count during a push.
                    async let push = device.context.push()
                    try await device.count()
                    total += 1
                    _ = try? await push
                }
            }
            for device in devices { device.transport.isConnected.withLock { $0 = true } }
            for device in devices + devices { try await device.pages.pull() }
            #expect(try server.row("x", in: "Page")?.fields["views"]?.intValue == Int64(total))
            for device in devices {
                #expect(try await device.pages.get("x")?.views == total)
                try await device.context.close()
            }
        }
    }
}
