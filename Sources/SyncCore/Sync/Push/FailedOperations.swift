// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The operations of a push that failed in an earlier push, or ended it: see ``PostponedOperations``.
struct FailedOperations: Sendable {
    private let ids: Set<Int64>
    /// The id before all of them, and the greatest one.
    private let first, greatest: Int64
    /// For each round, the id of the operation that was sent last.
    private var lastSent: [Int: Int64] = [:]

    /// - Parameter tables: the tables of the push; `nil` for all.
    init(
        in snapshot: any StoreSnapshot, tables: Set<String>?, order: PushOrder,
        postponed: PostponedOperations, now: Timestamp
    ) throws {
        let failed = try snapshot.operationErrors(in: nil).compactMap { error -> TableOperation? in
            let operation = try snapshot.operation(id: error.operationID)
            return operation?.revision == error.revision ? operation : nil
        }
        let operations = try (failed + postponed.operations(in: snapshot)).filter { operation in
            tables?.contains(operation.table) ?? true
        }
        ids = Set(operations.map(\.id))
        (first, greatest) = ((ids.min() ?? 1) - 1, ids.max() ?? 0)
        // A time in the future is of a clock that was set back since.
        let sent = operations.compactMap { operation in operation.lastAttempt.map { ($0, operation) } }
            .filter { $0.0 <= now }
        for (_, operation) in sent.sorted(by: { $0.0 < $1.0 }) {
            lastSent[order.round(of: operation)] = operation.id
        }
    }

    var isEmpty: Bool { ids.isEmpty }

    func contains(_ operation: TableOperation) -> Bool { ids.contains(operation.id) }

    /// The ids after the operation of the round that was sent last, then those up to it. The first id of a range is not
    /// included.
    func ranges(of round: Int) -> [ClosedRange<Int64>] {
        let last = lastSent[round] ?? first
        return [last...greatest, first...last]
    }
}
