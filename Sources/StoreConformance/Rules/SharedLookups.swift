// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

extension StoreRule {
    /// Lookups by id in one opening after changes in another.
    @RuleList static var sharedLookups: [StoreRule] {
        StoreRule(
            "capability.multi-process.shared.by-id",
            "Lookups by id find what another opening has replaced, and not what it has removed.",
            level: .concurrent, requirement: .declared(.multiProcess)
        ) { run in
            let second = try run.open()
            for round in 1...4 as ClosedRange<Int64> {
                let (writer, reader) = round % 2 == 0 ? (try run.store, second) : (second, try run.store)
                for lookup in KnownID.all {
                    // What an opening keeps of a lookup must not hide later changes.
                    let before = try reader.read(lookup.find)
                    try writer.write { try lookup.put($0, round) }
                    let replaced = try reader.read(lookup.find)
                    try run.expect(
                        replaced, is: try writer.read(lookup.find),
                        "\(lookup.subject) that the other opening has replaced in round \(round)")
                    try run.expect(replaced != before, "The other opening has replaced \(lookup.subject).")
                    try writer.write(lookup.remove)
                    try run.expect(
                        try reader.read(lookup.find), is: try writer.read(lookup.find),
                        "\(lookup.subject) that the other opening has removed in round \(round)")
                    try writer.write { try lookup.put($0, round + 10) }
                }
            }
        }
    }
}

/// Data of one kind that is found by its id.
private struct KnownID {
    let subject: String
    let find: @Sendable (any StoreSnapshot) throws -> String
    let put: @Sendable (_ transaction: any StoreTransaction, _ number: Int64) throws -> Void
    let remove: @Sendable (any StoreTransaction) throws -> Void

    static let all = [
        KnownID(subject: "the item") {
            try $0.item(id: "known", in: "Thing").exactDescription
        } put: { transaction, number in
            try transaction.upsert([Item(id: "known", fields: ["count": .int(number)])], in: "Thing")
        } remove: {
            try $0.deleteItems(ids: ["known"], in: "Thing")
        },
        KnownID(subject: "the operation") {
            try $0.operation(id: 1).exactDescription
        } put: { transaction, number in
            try transaction.put(
                TableOperation(
                    id: 1, table: "Thing", itemID: "known", kind: .update, revision: Int(number)))
        } remove: {
            try $0.removeOperation(id: 1)
        },
        KnownID(subject: "the error") {
            try $0.operationError(operationID: 1).exactDescription
        } put: { transaction, number in
            try transaction.put(Fixture.error(1, message: "\(number)"))
        } remove: {
            try $0.removeOperationError(operationID: 1)
        },
        KnownID(subject: "the config value") {
            try $0.configValue(Fixture.key("known")).exactDescription
        } put: { transaction, number in
            try transaction.setConfigValue("\(number)", for: Fixture.key("known"))
        } remove: {
            try $0.setConfigValue(nil, for: Fixture.key("known"))
        },
    ]
}
