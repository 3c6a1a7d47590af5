// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension StoreTransaction {
    /// Returns the id for a new operation: one above the highest id ever issued, so that ids increase strictly and are
    /// never reused. It is issued when the operation is put into the queue.
    func nextOperationID() throws -> Int64 { try lastOperationID() + 1 }
}
