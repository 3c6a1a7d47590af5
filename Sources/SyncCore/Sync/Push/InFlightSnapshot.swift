// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The operations that are on their way to the server at one time: see ``InFlightOperations``.
///
/// A local change of one of their items is queued behind the operation. With every other operation it is merged.
package struct InFlightSnapshot: Sendable {
    /// The ids of the operations that are being sent.
    var sent: Set<Int64> = []
    /// The ids of the inserts that a delegate is performing.
    var performed: Set<Int64> = []
    /// Whether an attempt with unknown outcome counts as being sent, because another process could be sending it.
    var includesAttempts = false

    /// For a caller that does not know what is being sent: every attempt counts.
    ///
    /// - Parameter performed: the ids of the inserts that a delegate of this process is performing.
    package static func unknown(performed: Set<Int64>) -> InFlightSnapshot {
        InFlightSnapshot(performed: performed, includesAttempts: true)
    }

    /// Whether the operation is being sent.
    func contains(_ operation: TableOperation) -> Bool {
        sent.contains(operation.id) || includesAttempts && operation.state == .attempted
    }

    /// Whether a change of its item is queued behind the operation.
    func queues(_ change: TableOperation.Kind, behind operation: TableOperation) -> Bool {
        contains(operation) || change == .delete && performed.contains(operation.id)
    }
}
