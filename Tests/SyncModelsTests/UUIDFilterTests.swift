// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncModels
import Testing

private struct Visit: SyncModel {
    var id = SyncID<Visit>()
    var place = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)), guide: UUID?
    static let schema = ModelSchema(
        "Visit", Visit(), .field("place", \.place, .indexed), .field("guide", \.guide))
}

/// Filters of UUIDs, which clients write in lower or in upper case.
@Suite struct UUIDFilterTests {
    @Test(arguments: StoreKind.allCases)
    func `a filter finds a UUID in lower and in upper case`(_ kind: StoreKind) async throws {
        let uuid = try #require(UUID(uuidString: "ABCDEF00-0000-7000-8000-000000000000"))
        let values: [(id: String, value: ItemValue)] = [
            ("lower", .text(uuid.uuidString.lowercased())), ("null", .null),
            ("other", "abcdef00-0000-7000-8000-000000000001"), ("upper", .text(uuid.uuidString)),
        ]
        try await withContext(on: kind, .models(Visit.self)) { context in
            let table = context.table(Visit.self)
            for (id, value) in values {
                try await table.raw.insert(["id": .text(id), "place": value, "guide": value])
            }
            func ids(_ query: ModelQuery<Visit>) async throws -> [String] {
                try await table.fetch(query.order(by: \.id)).map(\.id.text)
            }
            #expect(try await ids(Visit.where { $0.place == uuid }) == ["lower", "upper"])
            #expect(try await ids(Visit.where { $0.place != uuid }) == ["null", "other"])
            #expect(try await ids(Visit.where { !($0.place == uuid) }) == ["null", "other"])
            #expect(try await ids(Visit.where { $0.guide == uuid }) == ["lower", "upper"])
            #expect(try await ids(Visit.where { $0.guide != uuid }) == ["other"])
            #expect(try await ids(Visit.where { $0.guide.isIn([uuid, nil]) }) == ["lower", "null", "upper"])
            #expect(try await ids(Visit.where { !$0.guide.isIn([uuid]) }) == ["other"])
        }
    }
}
