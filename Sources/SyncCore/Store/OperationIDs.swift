// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension StoreTransaction {
    /// Returns the id for a new operation: one above the highest id ever issued, so that ids increase strictly and are
    /// never reused. It is issued when the operation is put into the queue.
    ///
    /// - Throws: ``StoreError`` with code ``StoreError/Code/corrupt`` when no higher id exists.
    func nextOperationID() throws -> Int64 {
        let last = try lastOperationID()
        guard last < .max else {
            throw StoreError(.corrupt, "The store is damaged: the last operation id is the highest number.")
        }
        return last + 1
    }
}
