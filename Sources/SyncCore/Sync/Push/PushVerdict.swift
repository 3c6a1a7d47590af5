// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// What a server's answer to an attempt was, as far as a push needs to know.
struct PushAnswer: Sendable, Hashable {
    var status: Int
    /// The server's row, when the answer carries one: a row has a version, an echo of the request has none.
    var row: Item?
    /// Whether the body was whole and of the right form.
    var isReadable = true
    /// Whether the answer says that the table itself is not there.
    var isTableMissing = false
    /// What the server says about it.
    var message: String?
    /// The value of `Retry-After`, untouched.
    var retryAfter: String?
}

/// What an answer means for the operation.
enum PushVerdict: Sendable, Hashable {
    /// The server has it: the row as it is there now, or `nil` when it is gone or was not told.
    case succeeded(Item?)
    /// The server's row must be fetched before anybody can tell.
    case undecided
    /// An earlier attempt was applied; the operation goes on from this row.
    case continues(from: Item)
    /// The server has another state of the row, or `nil` when it has none.
    case conflict(status: Int, serverItem: Item?)
    /// The server will not do it, and has not done it.
    case refused(status: Int, SyncError.Code, message: String?)
    /// It is not known whether the server did it; it may help to ask again later.
    case ambiguous(status: Int)
    /// The server asks to sign in.
    case unauthenticated
}

extension PushAnswer {
    /// What this answer to the attempt means.
    ///
    /// A conflict answer is success when the server's row is what an attempt of ours left behind: the answer to that
    /// one was lost, or the request was delivered twice.
    ///
    /// - Parameters:
    ///   - kind: what the operation is to do, which is not what was sent first if the user changed his mind.
    ///   - sent: the content of the attempt whose effect is in question.
    func verdict(on kind: TableOperation.Kind, sent: TableOperation.SentSnapshot) -> PushVerdict {
        if isTableMissing { return .refused(status: status, .tableNotOnServer, message: message) }
        switch status {
        case 200...299: return successVerdict(on: kind)
        case 401: return .unauthenticated
        case 404, 410: return missingVerdict(on: kind)
        case 409, 412:
            guard let row else { return .undecided }
            return Self.verdict(on: kind, sent: sent, status: status, row: row)
        case 408, 425, 429, 500...599: return .ambiguous(status: status)
        case 400...499 where isReadable: return refusal
        default: return .ambiguous(status: status)
        }
    }

    /// What it means that the server's row, fetched after an undecided answer, is this; `nil` when it has none.
    static func verdict(
        on kind: TableOperation.Kind, sent: TableOperation.SentSnapshot, status: Int, row: Item?
    ) -> PushVerdict {
        guard let row, !(kind == .delete && row.system.deleted) else {
            return kind == .delete ? .succeeded(nil) : .conflict(status: status, serverItem: nil)
        }
        guard sent.kind != .delete, sent.isApplied(in: row) else {
            return .conflict(status: status, serverItem: row)
        }
        return kind == .delete ? .continues(from: row) : .succeeded(row)
    }

    private func successVerdict(on kind: TableOperation.Kind) -> PushVerdict {
        if kind == .delete { return .succeeded(nil) }
        guard let row else { return .ambiguous(status: status) }
        // Without a version to check, servers change a deleted row and leave it deleted.
        return row.system.deleted ? .conflict(status: 409, serverItem: row) : .succeeded(row)
    }

    private func missingVerdict(on kind: TableOperation.Kind) -> PushVerdict {
        switch kind {
        case .insert: refusal
        case .update: .conflict(status: status, serverItem: nil)
        case .delete: .succeeded(nil)
        }
    }

    private var refusal: PushVerdict {
        .refused(status: status, message == nil ? .serverErrorWithoutMessage : .serverError, message: message)
    }
}
