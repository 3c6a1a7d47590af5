// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Decides when an operation is parked: after ``SyncSettings/parkAfterRefusals`` counted refusals. Pushes do not send a
/// parked operation until it is edited, resolved or replayed.
///
/// Counted are responses of the tables service about this operation:
/// - a refusal with a readable 4xx, or with 401: see ``UnauthorizedOperations``;
/// - an insert that the server has stored under another id: the second parks the operation;
/// - a server error (5xx), at the end of the push, if the server has applied other operations of the same push.
///
/// Not counted are conflicts, which need a decision; a missing table, which is no fault of the operation; and everything
/// that says nothing about the operation: see ``PushEnding``.
enum Parking {
    /// Returns the number of refusals after which the operation is parked; `nil` if the outcome does not count.
    static func limit(for outcome: AttemptOutcome, _ settings: SyncSettings) -> Int? {
        switch outcome {
        case .refused(_, .tableNotOnServer, _): nil
        // Each attempt makes another row. The first response may have been one to another request.
        case .refused(200...299, _, _): min(2, settings.parkAfterRefusals)
        case .refused: settings.parkAfterRefusals
        case .succeeded, .rowNeeded, .continues, .conflict, .notApplied, .unknown, .unauthenticated,
            .unavailable:
            nil
        }
    }

    /// Counts a refusal for operations with a server error: the server has applied others, so the errors are
    /// caused by these operations.
    static func countServerErrors(_ errors: [TableOperationError], in context: SyncContext) async throws {
        guard !errors.isEmpty else { return }
        let limit = context.settings.parkAfterRefusals
        let counted = try await context.write { transaction in
            try errors.compactMap { error -> TableOperation? in
                guard var operation = try transaction.operation(id: error.operationID),
                    operation.revision == error.revision
                else { return nil }
                operation.countRefusal(parkAfter: limit)
                try transaction.put(operation)
                return operation
            }
        }
        for operation in counted { context.emitIfParked(operation) }
    }
}

extension SyncContext {
    /// Emits an event if the operation, which has just failed, is parked.
    func emitIfParked(_ operation: TableOperation) {
        if operation.isParked { emit(.parked(.init(operation)), .init(operation)) }
    }
}

extension TableOperation {
    /// Whether pushes leave the operation out.
    var isParked: Bool { state == .parked }

    /// Counts a refusal, and parks the operation when the limit is reached.
    mutating func countRefusal(parkAfter limit: Int) {
        refusals += 1
        if refusals >= limit { state = .parked }
    }

    /// Lets pushes send the operation again.
    mutating func unpark() {
        state = isAmbiguous ? .attempted : .pending
        refusals = 0
    }
}
