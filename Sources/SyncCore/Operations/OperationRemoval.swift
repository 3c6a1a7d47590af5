// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension StoreTransaction {
    /// Removes an operation from the queue, and its error from the error log.
    func removeOperationAndError(id: Int64) throws {
        try removeOperation(id: id)
        try removeOperationError(operationID: id)
    }
}
