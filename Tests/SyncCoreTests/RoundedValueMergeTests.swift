// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Synchronization
import Testing

/// In a merge of fields, a value that the server has rounded is neither an edit nor a clash.
struct RoundedValueMergeTests {
    private static let exact = ItemValue.int((1 << 53) + 1)
    private static let rounded = ItemValue.int(1 << 53)

    /// Merges the fields, and returns whether they clashed.
    private func merge(
        client: [String: ItemValue], server: [String: ItemValue], base: [String: ItemValue]
    ) async throws -> (fields: [String: ItemValue]?, hasClash: Bool) {
        let didClash = Mutex(false)
        let onClash = ConflictResolver { _ in
            didClash.withLock { $0 = true }
            return .keepPending
        }
        let operation = TableOperation(
            id: 1, table: "T", itemID: "x", kind: .update, base: Item(id: "x", fields: base))
        let conflict = Conflict(
            operation: operation, clientItem: Item(id: "x", fields: client),
            serverItem: Item(id: "x", fields: server))
        let decision = try await ConflictResolver.fieldMerge(onClash: onClash).resolve(conflict)
        guard case .merge(let item) = decision else { return (nil, didClash.withLock { $0 }) }
        return (item.fields, didClash.withLock { $0 })
    }

    @Test func `a local change that the server has rounded does not clash with itself`() async throws {
        let result = try await merge(
            client: ["n": Self.exact, "text": "base"], server: ["n": Self.rounded, "text": "theirs"],
            base: ["n": 1, "text": "base"])
        #expect(!result.hasClash)
        #expect(result.fields?["text"] == "theirs")
    }

    @Test
    func `an older copy of a value that the server has rounded does not clash with another client's change`()
        async throws
    {
        let result = try await merge(
            client: ["n": Self.exact, "text": "mine"], server: ["n": 7, "text": "base"],
            base: ["n": Self.rounded, "text": "base"])
        #expect(!result.hasClash)
        #expect(result.fields == ["n": 7, "text": "mine"])
    }

    @Test func `an edit within the precision is kept when no other client has changed the field`()
        async throws
    {
        let result = try await merge(
            client: ["n": Self.exact, "text": "base"], server: ["n": Self.rounded, "text": "theirs"],
            base: ["n": Self.rounded, "text": "base"])
        #expect(!result.hasClash)
        #expect(result.fields == ["n": Self.exact, "text": "theirs"])
    }

    @Test func `two edits of one field clash`() async throws {
        let result = try await merge(
            client: ["n": Self.exact], server: ["n": 7], base: ["n": 1])
        #expect(result.hasClash && result.fields == nil)
    }
}
