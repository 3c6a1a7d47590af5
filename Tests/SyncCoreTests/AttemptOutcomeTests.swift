// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SyncCore

/// The outcome of every status, body and kind of operation.
@Suite struct AttemptOutcomeTests {
    typealias Kind = TableOperation.Kind
    typealias Sent = TableOperation.SentSnapshot
    typealias Body = ResponseClassification.BodyForm
    private static let requests: [Kind: SyncEvent.RequestKind] = [
        .insert: .insert, .update: .update, .delete: .delete,
    ]

    private static let statuses = Array(100...599)
    private static let fields: [String: ItemValue] = ["text": "ours", "price": 1.5]

    private static func row(_ fields: [String: ItemValue] = fields, deleted: Bool = false) -> Item {
        Item(id: "x", fields: fields, system: SystemProperties(version: "v2", deleted: deleted))
    }

    private static func reason(_ status: Int) -> ConflictReason {
        status == 409 ? .rowExists : .versionMismatch
    }

    private static let definition = SyncTableDefinition(
        "T", columns: [SyncColumn("text", .text), SyncColumn("price", .double)])

    private static func sent(_ kind: Kind) -> Sent {
        Sent(kind: kind, fields: kind == .delete ? [:] : fields, version: kind == .insert ? nil : "v1")
    }

    private static func proof(_ kind: Kind, sent: Kind? = nil) -> LostAnswerProof {
        let operation = TableOperation(id: 1, table: "T", itemID: "x", kind: kind, version: "v1")
        return LostAnswerProof(of: operation, attempt: Self.sent(sent ?? kind), definition: definition)
    }

    private func outcome(
        _ status: Int, _ kind: Kind, sent: Kind? = nil, row: Item? = nil, body: Body? = nil
    ) -> AttemptOutcome {
        let body = body ?? (row == nil ? .json : .row)
        let classification = ResponseClassification(
            status: status, body: body, to: Self.requests[kind] ?? .read)
        let response = AttemptResponse(status: status, classification: classification, row: row)
        return AttemptOutcome(response, Self.proof(kind, sent: sent))
    }

    /// Returns whether the row proves an update of the base with this version, which has sent these fields.
    private func isProven(
        by row: Item, base: Item, sent fields: [String: ItemValue], version: String
    ) -> Bool {
        var operation = TableOperation(id: 1, table: "T", itemID: "x", kind: .update, version: version)
        operation.base = base
        let attempt = Sent(kind: .update, fields: fields, version: version)
        let proof = LostAnswerProof(of: operation, attempt: attempt, definition: Self.definition)
        let response = AttemptResponse(status: 200, classification: .done, row: row)
        if case .succeeded = proof.outcome(ofRow: response, .versionMismatch, status: 412) { return true }
        return false
    }

    @Test func `an undelete of a whole row without a change is proven by a row that lives`() {
        let base = Self.row(deleted: true)
        #expect(isProven(by: Self.row(["text": "theirs"]), base: base, sent: Self.fields, version: "v2"))
        #expect(!isProven(by: base, base: base, sent: Self.fields, version: "v2"))
    }

    @Test func `a whole row of another version than the base is proven by all of its fields`() {
        let base = Self.row(["text": "old", "price": 1])
        let sent: [String: ItemValue] = ["text": "old", "price": 2]
        let row = Self.row(["text": "theirs", "price": 2])
        #expect(isProven(by: row, base: base, sent: sent, version: "v2"))
        #expect(!isProven(by: row, base: base, sent: sent, version: "v3"))
    }

    /// No other outcome may remove an operation.
    @Test(arguments: statuses) func `only 2xx, a proof, or a delete of nothing ends an operation`(
        _ status: Int
    ) {
        for kind in Kind.allCases {
            for row in [nil, Self.row(), Self.row(["text": "theirs"]), Self.row(deleted: true)] {
                for body in Body.allCases where (row != nil) == (body == .row) {
                    let outcome = outcome(status, kind, row: row, body: body)
                    guard case .succeeded = outcome else { continue }
                    let isProof = [409, 412].contains(status) && row != nil
                    let isGone = kind == .delete && [404, 410].contains(status)
                    #expect((200...299).contains(status) || isProof || isGone, "\(kind) \(status)")
                    #expect(body != .html && (body != .unreadable))
                }
            }
        }
    }

    /// An operation that counts as never sent is removed by the next local delete.
    @Test(arguments: statuses) func `only a readable 4xx says that nothing was applied`(_ status: Int) {
        for kind in Kind.allCases {
            for body in Body.allCases {
                guard case .refused = outcome(status, kind, body: body) else { continue }
                #expect((400...499).contains(status))
                #expect(![401, 407, 408, 409, 412, 425, 429].contains(status))
                #expect(body != .unreadable && body != .html)
            }
        }
    }

    @Test(arguments: 200...299) func `a success needs the row, except for deletes`(_ status: Int) {
        for kind in [Kind.insert, .update] {
            #expect(outcome(status, kind, row: Self.row()) == .succeeded(Self.row()))
            #expect(outcome(status, kind) == .unknown(status: status, message: nil))
            #expect(
                outcome(status, kind, row: Self.row(deleted: true))
                    == .conflict(.rowExists, status: 409, serverItem: Self.row(deleted: true)))
        }
        #expect(outcome(status, .delete) == .succeeded(nil))
        #expect(outcome(status, .delete, row: Self.row()) == .succeeded(nil))
    }

    @Test(arguments: [404, 410]) func `a row that is gone is a delete's success and an update's conflict`(
        _ status: Int
    ) {
        #expect(outcome(status, .delete) == .succeeded(nil))
        #expect(outcome(status, .update) == .conflict(.rowMissing, status: status, serverItem: nil))
        guard case .refused = outcome(status, .insert) else { Issue.record("an insert is refused"); return }
    }

    @Test(arguments: [409, 412]) func `a conflict with what was sent is success`(_ status: Int) {
        #expect(outcome(status, .insert, row: Self.row()) == .succeeded(Self.row()))
        #expect(outcome(status, .update, row: Self.row()) == .succeeded(Self.row()))
        var more = Self.row()
        more.fields["computed"] = 5
        #expect(outcome(status, .update, row: more) == .succeeded(more))
    }

    @Test func `a column that is no longer declared counts if the row shows it`() {
        var row = Self.row(["text": "ours", "price": 1.5])
        let fields = Self.fields.merging(["size": 2]) { $1 }
        for (shown, isEqual) in [(ItemValue?.none, true), (2, true), (3, false), (.null, false)] {
            row.system.undeclared = shown.map { ["size": $0] } ?? [:]
            let base = Self.row(["text": "old", "price": 1.5])
            #expect(isProven(by: row, base: base, sent: fields, version: "v2") == isEqual)
        }
    }

    @Test(arguments: [409, 412]) func `a conflict with another row is a conflict`(_ status: Int) {
        for row in [
            Self.row(["text": "theirs", "price": 1.5]), Self.row(["text": "ours"]), Self.row(deleted: true),
        ] {
            for kind in [Kind.insert, .update] {
                #expect(
                    outcome(status, kind, row: row)
                        == .conflict(Self.reason(status), status: status, serverItem: row))
            }
        }
        #expect(
            outcome(status, .delete, row: Self.row())
                == .conflict(Self.reason(status), status: status, serverItem: Self.row()))
    }

    @Test(arguments: [409, 412]) func `a delete that finds a tombstone is complete`(_ status: Int) {
        #expect(outcome(status, .delete, row: Self.row(deleted: true)) == .succeeded(nil))
    }

    @Test(arguments: [409, 412]) func `a conflict without a row has to be looked up`(_ status: Int) {
        let reason = Self.reason(status)
        for kind in Kind.allCases { #expect(outcome(status, kind) == .rowNeeded(reason, status: status)) }
        let none = AttemptResponse(status: 404, classification: .rowMissing)
        #expect(
            Self.proof(.insert).outcome(ofRow: none, reason, status: status)
                == .conflict(reason, status: status, serverItem: nil))
        #expect(Self.proof(.delete).outcome(ofRow: none, reason, status: status) == .succeeded(nil))
    }

    @Test func `409 to an insert has its own code, and both conflict codes are conflicts`() {
        #expect(ConflictReason.rowExists.code(for: .insert) == .itemAlreadyOnServer)
        #expect(ConflictReason.rowExists.code(for: .update) == .preconditionFailed)
        #expect(ConflictReason.versionMismatch.code(for: .insert) == .preconditionFailed)
        let operation = TableOperation(id: 1, table: "T", itemID: "x", kind: .insert)
        for code in [SyncError.Code.itemAlreadyOnServer, .preconditionFailed, .itemNotOnServer] {
            #expect(
                TableOperationError(operation, item: nil, status: 409, code: code, message: "").isConflict)
        }
    }

    @Test(arguments: [Kind.insert, .update])
    func `a delete continues from the row that an earlier attempt left`(_ sent: Kind) {
        #expect(outcome(412, .delete, sent: sent, row: Self.row()) == .continues(from: Self.row()))
        let theirs = Self.row(["text": "theirs"])
        #expect(
            outcome(412, .delete, sent: sent, row: theirs)
                == .conflict(.versionMismatch, status: 412, serverItem: theirs))
    }

    @Test func `a missing table refuses every operation`() {
        for kind in Kind.allCases {
            let response = AttemptResponse(status: 404, classification: .tableMissing)
            #expect(
                AttemptOutcome(response, Self.proof(kind))
                    == .refused(status: 404, .tableNotOnServer, message: nil))
        }
    }

    @Test func `a refusal keeps the server's message`() {
        var response = AttemptResponse(status: 400, classification: .refused)
        #expect(
            AttemptOutcome(response, Self.proof(.insert))
                == .refused(status: 400, .serverErrorWithoutMessage, message: nil))
        response.message = "too long"
        #expect(
            AttemptOutcome(response, Self.proof(.insert))
                == .refused(status: 400, .serverError, message: "too long"))
    }

    // MARK: What was sent

    @Test
    func
        `a row proves an attempt when it shows the same values, with other digits of dates or signs of zero`()
        throws
    {
        let date = try #require(Timestamp("2024-01-01T00:00:00.1234567Z"))
        let sent = Sent(kind: .update, fields: ["d": .date(date), "z": -0.0, "n": .null], version: nil)
        let same = ["d": ItemValue.date(date.showing(fractionDigits: 9)), "z": 0.0]
        #expect(sent.isApplied(in: Self.row(same)))
        #expect(!sent.isApplied(in: Self.row(same.merging(["n": 1]) { $1 })))
        #expect(sent.isApplied(in: Self.row(["d": .date(date.showing(fractionDigits: 3)), "z": 0])))
        let later = date.advanced(by: .milliseconds(2)).showing(fractionDigits: 3)
        #expect(!sent.isApplied(in: Self.row(["d": .date(later), "z": 0.0])))
        #expect(!sent.isApplied(in: Self.row(same, deleted: true)))
        #expect(
            !Sent(kind: .update, fields: ["t": "é"], version: nil).isApplied(in: Self.row(["t": "e\u{301}"])))
        #expect(Sent(kind: .update, fields: ["t": 1], version: nil).isApplied(in: Self.row(["t": 1.0])))
        #expect(!Sent(kind: .update, fields: ["t": 1], version: nil).isApplied(in: Self.row(["t": 2.0])))
    }
}
