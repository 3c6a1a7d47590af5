// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SyncCore

/// What every possible answer means for an operation.
@Suite struct PushVerdictTests {
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

    private static func sent(_ kind: Kind) -> Sent {
        Sent(kind: kind, fields: kind == .delete ? [:] : fields, version: kind == .insert ? nil : "v1")
    }

    private func verdict(
        _ status: Int, _ kind: Kind, sent: Kind? = nil, row: Item? = nil, body: Body? = nil
    ) -> AttemptOutcome {
        let body = body ?? (row == nil ? .json : .row)
        let classification = ResponseClassification(
            status: status, body: body, to: Self.requests[kind] ?? .read)
        let answer = AttemptResponse(status: status, classification: classification, row: row)
        return answer.verdict(on: kind, sent: Self.sent(sent ?? kind))
    }

    /// No answer at all removes an operation that the server has not got.
    @Test(arguments: statuses) func `only 2xx, a proof, or a delete of nothing ends an operation`(
        _ status: Int
    ) {
        for kind in Kind.allCases {
            for row in [nil, Self.row(), Self.row(["text": "theirs"]), Self.row(deleted: true)] {
                for body in Body.allCases where (row != nil) == (body == .row) {
                    let verdict = verdict(status, kind, row: row, body: body)
                    guard case .succeeded = verdict else { continue }
                    let isProof = [409, 412].contains(status) && row != nil
                    let isGone = kind == .delete && [404, 410].contains(status)
                    #expect((200...299).contains(status) || isProof || isGone, "\(kind) \(status)")
                    #expect(body != .html && (body != .unreadable))
                }
            }
        }
    }

    /// What counts as never sent may vanish with the next local delete.
    @Test(arguments: statuses) func `only a readable 4xx says that nothing was applied`(_ status: Int) {
        for kind in Kind.allCases {
            for body in Body.allCases {
                guard case .refused = verdict(status, kind, body: body) else { continue }
                #expect((400...499).contains(status))
                #expect(![401, 407, 408, 409, 412, 425, 429].contains(status))
                #expect(body != .unreadable && body != .html)
            }
        }
    }

    @Test(arguments: 200...299) func `a success needs the row, except for deletes`(_ status: Int) {
        for kind in [Kind.insert, .update] {
            #expect(verdict(status, kind, row: Self.row()) == .succeeded(Self.row()))
            #expect(verdict(status, kind) == .unknown(status: status, message: nil))
            #expect(
                verdict(status, kind, row: Self.row(deleted: true))
                    == .conflict(status: 409, serverItem: Self.row(deleted: true)))
        }
        #expect(verdict(status, .delete) == .succeeded(nil))
        #expect(verdict(status, .delete, row: Self.row()) == .succeeded(nil))
    }

    @Test(arguments: [404, 410]) func `a row that is gone is a delete's success and an update's conflict`(
        _ status: Int
    ) {
        #expect(verdict(status, .delete) == .succeeded(nil))
        #expect(verdict(status, .update) == .conflict(status: status, serverItem: nil))
        guard case .refused = verdict(status, .insert) else { Issue.record("an insert is refused"); return }
    }

    @Test(arguments: [409, 412]) func `a conflict with what was sent is success`(_ status: Int) {
        #expect(verdict(status, .insert, row: Self.row()) == .succeeded(Self.row()))
        #expect(verdict(status, .update, row: Self.row()) == .succeeded(Self.row()))
        var more = Self.row()
        more.fields["computed"] = 5
        #expect(verdict(status, .update, row: more) == .succeeded(more))
    }

    @Test(arguments: [409, 412]) func `a conflict with anything else is one`(_ status: Int) {
        for row in [
            Self.row(["text": "theirs", "price": 1.5]), Self.row(["text": "ours"]), Self.row(deleted: true),
        ] {
            for kind in [Kind.insert, .update] {
                #expect(verdict(status, kind, row: row) == .conflict(status: status, serverItem: row))
            }
        }
        #expect(
            verdict(status, .delete, row: Self.row()) == .conflict(status: status, serverItem: Self.row()))
    }

    @Test(arguments: [409, 412]) func `a delete that finds a tombstone is done`(_ status: Int) {
        #expect(verdict(status, .delete, row: Self.row(deleted: true)) == .succeeded(nil))
    }

    @Test(arguments: [409, 412]) func `a conflict without a row has to be looked up`(_ status: Int) {
        for kind in Kind.allCases { #expect(verdict(status, kind) == .undecided) }
        let (insert, delete) = (Self.sent(.insert), Self.sent(.delete))
        let none = AttemptResponse(status: 404, classification: .rowMissing)
        #expect(
            none.verdict(on: .insert, sent: insert, status: status)
                == .conflict(status: status, serverItem: nil))
        #expect(none.verdict(on: .delete, sent: delete, status: status) == .succeeded(nil))
    }

    @Test(arguments: [Kind.insert, .update])
    func `a delete goes on from the row that an attempt before it left`(_ sent: Kind) {
        #expect(verdict(412, .delete, sent: sent, row: Self.row()) == .continues(from: Self.row()))
        let theirs = Self.row(["text": "theirs"])
        #expect(verdict(412, .delete, sent: sent, row: theirs) == .conflict(status: 412, serverItem: theirs))
    }

    @Test func `a table that is not there refuses everything`() {
        for kind in Kind.allCases {
            let answer = AttemptResponse(status: 404, classification: .tableMissing)
            #expect(
                answer.verdict(on: kind, sent: Self.sent(kind))
                    == .refused(status: 404, .tableNotOnServer, message: nil))
        }
    }

    @Test func `a refusal keeps what the server says`() {
        var answer = AttemptResponse(status: 400, classification: .refused)
        #expect(
            answer.verdict(on: .insert, sent: Self.sent(.insert))
                == .refused(status: 400, .serverErrorWithoutMessage, message: nil))
        answer.message = "too long"
        #expect(
            answer.verdict(on: .insert, sent: Self.sent(.insert))
                == .refused(status: 400, .serverError, message: "too long"))
    }

    // MARK: What was sent

    @Test func `a row is what was sent when its fields are, with other digits of dates and signs of zero`()
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
