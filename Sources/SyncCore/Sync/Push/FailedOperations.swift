// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The operations with an error of an earlier push.
struct FailedOperations: Sendable {
    private let ids: Set<Int64>
    /// The ids after the operation that was sent last, and up to it. The first id of a range is not included.
    let later, earlier: ClosedRange<Int64>

    init(in snapshot: any StoreSnapshot) throws {
        let operations = try snapshot.operationErrors(in: nil).compactMap { error -> TableOperation? in
            let operation = try snapshot.operation(id: error.operationID)
            return operation?.revision == error.revision ? operation : nil
        }
        ids = Set(operations.map(\.id))
        let (first, greatest) = ((ids.min() ?? 1) - 1, ids.max() ?? 0)
        let sent = operations.filter { $0.lastAttempt != nil }
        let last = sent.max { ($0.lastAttempt ?? .unixEpoch) < ($1.lastAttempt ?? .unixEpoch) }?.id ?? first
        (later, earlier) = (last...greatest, first...last)
    }

    var isEmpty: Bool { ids.isEmpty }

    func contains(_ operation: TableOperation) -> Bool { ids.contains(operation.id) }
}
