// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// What the response to an attempt means for the operation.
enum AttemptOutcome: Sendable, Hashable {
    /// The server has applied the operation: its row; `nil` when the row is gone or the response has none.
    case succeeded(Item?)
    /// The response reports a conflict without the server's row, which must be fetched to decide.
    case rowNeeded(ConflictReason, status: Int)
    /// The row is ready for the rest of the operation, which continues from this row.
    case continues(from: Item)
    /// The server has another state of the row; `nil` when it has no row.
    case conflict(ConflictReason, status: Int, serverItem: Item?)
    /// The server refuses the operation, and has not applied it.
    case refused(status: Int, SyncError.Code, message: String?)
    /// The server has not applied an earlier attempt, whose outcome was unknown: the present change can be sent.
    case notApplied
    /// The service may or may not have applied the operation.
    case unknown(status: Int, message: String?)
    /// The server requires the user to sign in.
    case unauthenticated(status: Int)
    /// The response says nothing about the operation: the service is not answering.
    case unavailable(status: Int, message: String?, retryAfter: String?)
}

extension AttemptOutcome {
    /// Derives the outcome from the classification of a response.
    ///
    /// - Parameter proof: decides whether a conflict is the effect of an earlier attempt.
    init(_ response: AttemptResponse, _ proof: LostAnswerProof) {
        let (status, message) = (response.status, response.message)
        self =
            switch response.classification {
            case .done: Self.success(response, kind: proof.kind)
            case .rowExists: proof.outcome(of: response, .rowExists)
            case .versionMismatch: proof.outcome(of: response, .versionMismatch)
            case .rowMissing: proof.outcome(ofRow: nil, .rowMissing, status: status)
            case .tableMissing: .refused(status: status, .tableNotOnServer, message: message)
            case .refused: .refused(status: status, message: message)
            case .unknown: .unknown(status: status, message: message)
            case .unauthenticated: .unauthenticated(status: status)
            case .unavailable:
                .unavailable(status: status, message: message, retryAfter: response.retryAfter)
            }
    }

    /// The server refuses the operation with this message.
    static func refused(status: Int, message: String?) -> Self {
        .refused(status: status, message == nil ? .serverErrorWithoutMessage : .serverError, message: message)
    }

    /// Returns the refusal of an insert whose row the server has stored with another id; `nil` if the response has no such row.
    ///
    /// Sent again, the insert would make another row, or meet this one. The app has to choose ids that the server keeps.
    static func refusal(byOtherID response: AttemptResponse) -> Self? {
        response.otherID.map { id in
            .refused(
                status: response.status,
                message: "The server has stored the row with the id '\(id)' instead of the item's own.")
        }
    }

    private static func success(_ response: AttemptResponse, kind: TableOperation.Kind) -> Self {
        if kind == .delete { return .succeeded(nil) }
        if kind == .insert, let refusal = refusal(byOtherID: response) { return refusal }
        // Without a row of the item, the response does not confirm the write.
        guard let row = response.row else {
            return .unknown(status: response.status, message: response.message)
        }
        // A write without a version changes a deleted row on some servers, and leaves it deleted.
        guard !row.system.deleted else {
            return .conflict(.rowExists, status: ConflictReason.rowExists.status, serverItem: row)
        }
        return .succeeded(row)
    }
}
