// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// By `updatedAt`, with `$skip` among rows of one instant: the original client's way.
///
/// A row that leaves the instant meanwhile makes `$skip` pass over another. The token's instant is therefore read again
/// by every pull.
struct UpdatedAtOrder: PageOrder {
    private(set) var token: DeltaToken?
    private(set) var phase = 0
    private var position = Timestamp.unixEpoch
    private var skip = 0
    private var horizon = FutureRows()

    init(token: DeltaToken?, overlap: Duration) {
        self.token = token
        if let token { position = token.updatedAt.advanced(by: .zero - overlap) }
    }

    func nextPage(of query: TableQuery) -> TableQuery {
        query.where(.updatedAt(.greaterOrEqual, position)).order(by: "updatedAt").offset(skip)
    }

    mutating func advance(over rows: [PulledRow], at time: PageTime) {
        horizon.record(rows, at: time)
        if let updatedAt = DeltaToken.last(of: rows)?.updatedAt, position.isEarlier(than: updatedAt) {
            position = updatedAt
            skip = 0
            phase += 1
        } else {
            skip += rows.count
        }
        let stored = DeltaToken.last(of: rows.filter { !horizon.contains($0) })
        if let stored, token.map({ $0.precedes(stored) }) ?? true { token = stored }
    }
}

/// Rows that are dated after the server has sent them: they do not move the token.
///
/// Once one has come, no row dated later does: the pull goes on behind it, and what changes before it is for the next.
struct FutureRows {
    private var latestDate: Timestamp?

    mutating func record(_ rows: [PulledRow], at time: PageTime) {
        if latestDate == nil, rows.contains(where: { $0.isDated(after: time.latest) }) {
            latestDate = time.latest
        }
    }

    func contains(_ row: PulledRow) -> Bool { row.isDated(after: latestDate) }
}

extension PulledRow {
    /// Whether the row claims to have been changed after that second.
    fileprivate func isDated(after date: Timestamp?) -> Bool {
        guard let date, let updatedAt = item.system.updatedAt else { return false }
        return updatedAt.seconds > date.seconds
    }
}
