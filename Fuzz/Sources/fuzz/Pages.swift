// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes

@testable import StoreOrderedMap
@_spi(StoreAuthor) @testable import SyncCore

private let definition = SyncTableDefinition(
    "T",
    columns: [
        SyncColumn("text", .text), SyncColumn("flag", .bool), SyncColumn("count", .integer),
        SyncColumn("price", .double), SyncColumn("due", .date), SyncColumn("photo", .data),
        SyncColumn("tags", .json), SyncColumn("note", .text, isLocalOnly: true),
    ])

/// Every readable row of a response is an item that a store accepts and keeps; every other row has a named problem.
///
/// The first byte of the input chooses the dialect and the status, the rest is the body.
func checkPage(_ input: Data) {
    var bytes = ByteConsumer(input.prefix(1))
    let choice = bytes.byte()
    let dialect = [WireDialect.v1, .v2, .v3][Int(choice) % 3]
    let status = [200, 206, 400, 404, 409, 412, 500][Int(choice) / 3 % 7]
    let calls = [
        RemoteCall(.query([], includesDeleted: true), table: "T"), RemoteCall(.read(id: "a"), table: "T"),
    ]
    let body = input.dropFirst()
    for call in calls {
        let response = RemoteResponse(
            HTTPTransportResponse(status: .init(code: status), body: Data(body)), to: call,
            dialect: dialect, tokenGeneration: 0, secrets: ["secret"])
        let failure = response.failure(of: call, dialect: dialect)
        require(
            (failure == nil) == (response.classification == .done),
            "A response is neither a success nor an error.")
        require(response.message?.contains("secret") != true, "The message contains a secret.")
        require(
            response.message?.unicodeScalars.allSatisfy { $0.value >= 0x20 } != false,
            "The message contains a control character.")
        switch response.body {
        case .rows(let rows, let count):
            require(count ?? 0 >= 0 && rows.count <= body.count, "There are more rows than bytes.")
            checkRows(rows, dialect: dialect)
        case .row(let row): checkRows([WireObject(row)], dialect: dialect)
        case .change(let change):
            require(change?.mark.contains { $0.isNewline } != true, "The mark is more than one line.")
        case .empty, .unreadable: break
        }
    }
}

private func checkRows(_ rows: [WireObject], dialect: WireDialect) {
    var shared = WireRowReader(dialect: dialect, definition: definition)
    for row in rows {
        let read = shared.readRecordingProblems(row)
        var fresh = WireRowReader(dialect: dialect, definition: definition)
        let alone = fresh.readRecordingProblems(row)
        require(
            read.item == alone.item && read.problems.map(\.column) == alone.problems.map(\.column),
            "A row is read differently after another row.")
        guard read.problems.isEmpty else { continue }
        let item = read.item
        require(ItemID.isValid(item.id), "A row with an invalid id has no problem.")
        require(item["note"] == nil, "A row has a local-only column.")
        if !item.system.deleted {
            guard let fields = try? definition.normalizedForWriting(item.content, of: item.id) else {
                fatalError("A row has fields that the table refuses.")
            }
            require(fields == item.content, "A field is not in its column's form.")
        }
        checkStoring(item)
    }
}

private func checkStoring(_ item: Item) {
    let restored = item.bytes.withUnsafeBytes { try? Item(id: item.id, bytes: $0) }
    require(restored == item || !item.isFinite, "An item changes when it is stored.")
}

extension Item {
    /// Whether all numbers are finite; NaN does not equal itself.
    fileprivate var isFinite: Bool {
        ItemValue.object(fields).isFinite && ItemValue.object(system.undeclared).isFinite
    }
}

extension ItemValue {
    fileprivate var isFinite: Bool {
        switch self {
        case .double(let double): double.isFinite
        case .array(let values): values.allSatisfy(\.isFinite)
        case .object(let fields): fields.values.allSatisfy(\.isFinite)
        default: true
        }
    }
}

/// Damaged bytes of a stored item are an error or another item, never a crash; columns read on demand equal the item's, and
/// a filter finds that the row matches as the item does.
func checkStoredItem(_ input: Data) {
    Array(input).withUnsafeBytes { bytes in
        guard let item = try? Item(id: "a", bytes: bytes) else { return }
        checkStoring(item)
        let id = Array("a".utf8)
        id.withUnsafeBytes { id in
            let equalities = item.fields.map { Filter.comparison(.equal, .column($0), .constant($1)) }
            for filter in [Filter.all(equalities), .any(equalities), .all([])] {
                let prepared = PreparedFilter(filter)
                let row = StoredRow(of: prepared)
                guard (try? row.move(toID: id, bytes: bytes)) != nil else {
                    fatalError("The row of an item that can be decoded cannot be read.")
                }
                require(
                    (try? prepared.matches(row)) == filter.matches(item),
                    "A prepared filter finds another result.")
                for (name, value) in item.fields {
                    require(
                        (try? row[name]) == value || !value.isFinite,
                        "A column read on demand has another value.")
                }
            }
        }
    }
}
