// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Operations that a push sends after all others, because they have failed in an earlier push.
struct FailedOperations: Sendable {
    private let ids: Set<Int64>
    /// The lowest of these ids minus one, and the greatest.
    private let first, greatest: Int64
    /// For each round, the id of the operation that was sent last.
    private var lastSent: [Int: Int64] = [:]
    /// For those at which a push has ended, the round of the operation that was sent last.
    private var lastRound: Int?

    /// Returns the groups in the order in which they are sent: operations with an error of an earlier push, then those without
    /// one at which a push has ended, and which may be the only ones to fail.
    ///
    /// - Parameters:
    ///   - tables: the tables of the push; `nil` for all.
    ///   - sentLast: see ``SyncContext/operationIDsSentLast``.
    static func groups(
        in snapshot: any StoreSnapshot, tables: Set<String>?, sentLast: Set<Int64>, order: PushOrder,
        now: Timestamp
    ) throws -> [FailedOperations] {
        let failed = try snapshot.operationErrors(in: nil).compactMap { error -> TableOperation? in
            if sentLast.contains(error.operationID) { return nil }
            let operation = try snapshot.operation(id: error.operationID)
            return operation?.revision == error.revision ? operation : nil
        }
        var known = Set(failed.map(\.id))
        var stopped = try operationsThatMayFailAlone(in: snapshot).filter { known.insert($0.id).inserted }
        stopped += try sentLast.filter { known.insert($0).inserted }.compactMap {
            try snapshot.operation(id: $0)
        }
        return [(failed, false), (stopped, true)].map { operations, haveEndedPush in
            let included = operations.filter { tables?.contains($0.table) ?? true }
            return FailedOperations(included, haveEndedPush: haveEndedPush, order, now)
        }.filter { !$0.ids.isEmpty }
    }

    private init(
        _ operations: [TableOperation], haveEndedPush: Bool, _ order: PushOrder, _ now: Timestamp
    ) {
        ids = Set(operations.map(\.id))
        (first, greatest) = ((ids.min() ?? 1) - 1, ids.max() ?? 0)
        // A time in the future is of a clock that was set back since.
        let sent = operations.compactMap { operation in operation.lastAttempt.map { ($0, operation) } }
            .filter { $0.0 <= now }
        for (_, operation) in sent.sorted(by: { ($0.0, $0.1.id) < ($1.0, $1.1.id) }) {
            lastSent[order.round(of: operation)] = operation.id
            if haveEndedPush { lastRound = order.round(of: operation) }
        }
    }

    /// Returns the operations that may be the only ones to fail, as far as they are at the beginning of the queue. This context
    /// knows where else its pushes have ended: see ``UnansweredOperations``.
    private static func operationsThatMayFailAlone(in snapshot: any StoreSnapshot) throws -> [TableOperation]
    {
        var (alone, last) = ([TableOperation](), Int64(0))
        while true {
            let operations = try snapshot.operations(after: last, in: nil, limit: 64)
            let found = operations.filter(\.mayFailAlone)
            alone += found
            guard !found.isEmpty, let end = operations.last else { return alone }
            last = end.id
        }
    }

    func contains(_ operation: TableOperation) -> Bool { ids.contains(operation.id) }

    /// The rounds after the one that was sent last, then all: an earlier push may have ended there, and an insert that becomes a
    /// delete belongs to a later round.
    fileprivate func rounds(of order: PushOrder) -> [Int] {
        guard let lastRound else { return Array(order.rounds) }
        return order.rounds.filter { $0 > lastRound } + Array(order.rounds)
    }

    /// The ids after the operation of the round that was sent last, then those up to it. The first id of a range is not
    /// included.
    func ranges(of round: Int) -> [ClosedRange<Int64>] {
        let last = lastSent[round] ?? first
        return [last...greatest, first...last]
    }
}

extension [FailedOperations] {
    func contains(_ operation: TableOperation) -> Bool { contains { $0.contains(operation) } }

    /// The groups with their rounds, in the order in which they are sent.
    func inRounds(of order: PushOrder) -> [(group: FailedOperations, round: Int)] {
        flatMap { group in group.rounds(of: order).map { (group, $0) } }
    }
}

extension TableOperation {
    /// Whether no other operation may fail as the last attempt of this one has, although the response says nothing about it: a
    /// proxy may refuse this request only, for example because of its size, and a server may fail for it only.
    var mayFailAlone: Bool { isAmbiguous && lastStatus.map(ResponseClassification.mayBeOfRequest) == true }
}
