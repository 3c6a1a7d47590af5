// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Testing

/// ``ConflictResolver/lastWriterWins`` compares the time of the edit with the server's `updatedAt`.
@Suite struct LastWriterWinsTests {
    private static func decision(
        changedAt: String?, updatedAt: String?, hasRow: Bool = true
    ) async throws -> ConflictDecision {
        let system = SystemProperties(updatedAt: updatedAt.flatMap { Timestamp($0) }, version: "2")
        let operation = TableOperation(
            id: 1, table: "T", itemID: "x", kind: .update, changedAt: changedAt.flatMap { Timestamp($0) })
        let conflict = Conflict(
            operation: operation, clientItem: Item(id: "x", fields: ["n": 1]),
            serverItem: hasRow ? Item(id: "x", fields: ["n": 2], system: system) : nil)
        return try await ConflictResolver.lastWriterWins.resolve(conflict)
    }

    private static func keepsClient(_ decision: ConflictDecision) -> Bool {
        if case .keepClient = decision { true } else { false }
    }

    @Test(
        arguments: [
            ("2020-01-01T00:00:02Z", "2020-01-01T00:00:01Z", true),
            ("2020-01-01T00:00:01.0001Z", "2020-01-01T00:00:01Z", true),
            ("2020-01-01T00:00:01Z", "2020-01-01T00:00:01Z", false),
            ("2020-01-01T00:00:01Z", "2020-01-01T00:00:01.0001Z", false),
            (nil, "2020-01-01T00:00:01Z", false), ("2020-01-01T00:00:01Z", nil, false), (nil, nil, false),
        ] as [(String?, String?, Bool)])
    func `the later change is kept, and the server's if that is not known`(
        _ changedAt: String?, _ updatedAt: String?, _ isClient: Bool
    ) async throws {
        let decision = try await Self.decision(changedAt: changedAt, updatedAt: updatedAt)
        #expect(Self.keepsClient(decision) == isClient)
    }

    @Test(arguments: ["2020-01-01T00:00:01Z", nil])
    func `the change is kept if the server has no row`(_ changedAt: String?) async throws {
        let decision = try await Self.decision(changedAt: changedAt, updatedAt: nil, hasRow: false)
        #expect(Self.keepsClient(decision))
    }
}
