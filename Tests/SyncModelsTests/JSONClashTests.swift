// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncModels
import TableServer
import Testing

/// Clashes of JSON columns whose stored objects have keys of a newer version of the app.
@Suite struct JSONClashTests {
    private struct Place: SyncModel {
        var id = SyncID<Place>()
        var address = Address()
        static let schema = ModelSchema("Place", Place(), .json("address", \.address))
    }

    private struct Address: Codable, Sendable { var city = "" }

    /// Changes the city on the device and the address on the server, and returns the server's address after a push.
    private static func resolve(_ rule: ConflictResolver, theirs: ItemValue) async throws -> ItemValue? {
        var settings = SyncSettings()
        settings.resolveByField(Place.self, onClash: rule)
        var address: ItemValue?
        try await withServer(.models(Place.self), settings: settings) { context, server in
            let table = context.table(Place.self)
            try await server.put("x", ["address": ["city": "Oslo", "zip": "1"]], in: "Place")
            try await table.pull()
            try await table.update("x") { $0.address.city = "Bergen" }
            try await server.update("x", ["address": theirs], in: "Place")
            try await context.push()
            address = try server.row("x", in: "Place")?.fields["address"]
            #expect(try await table.raw.item(id: "x")?["address"] == address)
        }
        return address
    }

    @Test func `the device's value has the keys that the server has added and changed`() async throws {
        let theirs: ItemValue = ["city": "Molde", "zip": "2", "floor": 3]
        let address = try await Self.resolve(.clientWins, theirs: theirs)
        #expect(address == ["city": "Bergen", "zip": "2", "floor": 3])
    }

    @Test func `the server's value has no keys of the device's value`() async throws {
        let theirs: ItemValue = ["city": "Molde", "floor": 3]
        #expect(try await Self.resolve(.serverWins, theirs: theirs) == theirs)
    }

    @Test func `the device's value keeps its keys if the property cannot hold the server's value`()
        async throws
    {
        let address = try await Self.resolve(.clientWins, theirs: ["city": 7, "floor": 3])
        #expect(address == ["city": "Bergen", "zip": "1"])
    }
}
