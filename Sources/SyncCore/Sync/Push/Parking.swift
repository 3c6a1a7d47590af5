// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension TableOperation {
    /// Counts a refusal of this operation by the tables service, and parks it after too many.
    ///
    /// Conflicts are not counted: they wait for a decision. Failures of the network or the service are not counted
    /// either: they say nothing about the operation.
    mutating func countRefusal(parkingAfter limit: Int) {
        attempts += 1
        if attempts >= limit { state = .parked }
    }
}

extension SyncContext {
    /// Counts a refusal for operations that the service answered with a server error while it carried out others: the
    /// error is then theirs, and not the service's.
    func countServerErrors(of operations: [TableOperationError]) async throws {
        guard !operations.isEmpty else { return }
        let limit = settings.parkAfterRefusals
        try await write { transaction in
            for error in operations {
                guard var operation = try transaction.operation(id: error.operationID),
                    operation.revision == error.revision
                else { continue }
                operation.countRefusal(parkingAfter: limit)
                try transaction.put(operation)
            }
        }
    }
}
