// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
package import SyncCore

/// Operations in which every property is present and missing, of the item "a" of the table "T".
package enum OperationForms {
    private static let row = Item(
        id: "a",
        fields: [
            "n": .int(.max), "d": .double(-0.0), "t": .text("e\u{301}"), "none": .null,
            "b": .data(Data([0, 255])), "list": .array([.bool(true), .object(["k": .int(1)])]),
            "at": .date(Timestamp("2026-01-01T00:00:00.120Z")!),
        ],
        system: SystemProperties(
            updatedAt: Timestamp("2026-01-01T00:00:00.1234567Z"), version: "1", deleted: true))

    private static let full: TableOperation = {
        var operation = TableOperation(
            id: 1, table: "T", itemID: "a", kind: .update, state: .parked, revision: 300, refusals: 2,
            lastAttempt: Timestamp("2026-01-01T00:00:00.123456789Z"), lastStatus: 500, base: row,
            version: "", serverItem: Item(id: "A"), deletedItem: row,
            sent: TableOperation.SentSnapshot(kind: .insert, fields: row.fields, version: "2"),
            replaces: true, isAdopted: true, isPerformed: true,
            changedAt: Timestamp("1970-01-01T00:00:00Z"))
        operation.base?.system.supersededVersions = ["x", ""]
        operation.base?.system.undeclared = ["more": ItemValue.double(.greatestFiniteMagnitude)]
        return operation
    }()

    /// The second one has all properties.
    package static let operations: [TableOperation] = {
        var operations = [TableOperation(id: 1, table: "T", itemID: "a", kind: .insert)]
        for kind in TableOperation.Kind.allCases {
            for state in TableOperation.State.allCases {
                var operation = full
                (operation.kind, operation.state) = (kind, state)
                operations.append(operation)
            }
        }
        for clear: (inout TableOperation) -> Void in [
            { $0.base = nil }, { $0.serverItem = nil }, { $0.deletedItem = nil }, { $0.sent = nil },
            { $0.sent?.version = nil }, { $0.version = nil }, { $0.changedAt = nil }, { $0.lastStatus = nil },
            { $0.lastAttempt = nil }, { $0.replaces = false }, { $0.isAdopted = false },
            { $0.isPerformed = false },
        ] {
            var operation = full
            clear(&operation)
            operations.append(operation)
        }
        return operations.enumerated().map { $1.withID(Int64($0 + 1)) }
    }()
}

extension TableOperation {
    fileprivate func withID(_ id: Int64) -> TableOperation {
        TableOperation(
            id: id, table: table, itemID: itemID, kind: kind, state: state, revision: revision,
            refusals: refusals, lastAttempt: lastAttempt, lastStatus: lastStatus, base: base,
            version: version, serverItem: serverItem, deletedItem: deletedItem, sent: sent,
            replaces: replaces, isAdopted: isAdopted, isPerformed: isPerformed, changedAt: changedAt)
    }
}
