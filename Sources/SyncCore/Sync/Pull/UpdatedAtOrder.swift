// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Reads by `updatedAt`, with `$skip` among rows of one instant, as the original client did.
///
/// A row that leaves the instant during the pull makes `$skip` miss another one, which is pulled when it changes. Every pull
/// reads the token's instant again.
struct UpdatedAtOrder: PageOrder {
    private(set) var token: DeltaToken?
    private(set) var phase = 0
    private var position = Timestamp.unixEpoch
    private var skip = 0
    private var futureRows = FutureRows()

    init(token: DeltaToken?, overlap: Duration) {
        self.token = token
        if let token { position = token.updatedAt.advanced(by: .zero - overlap) }
    }

    func nextPage(of query: TableQuery) -> TableQuery {
        query.where(.updatedAt(.greaterOrEqual, position)).order(by: "updatedAt").offset(skip)
    }

    mutating func advance(over rows: [PulledRow], at time: PageTime) {
        futureRows.record(rows, at: time)
        if let updatedAt = DeltaToken.last(of: rows)?.updatedAt, position.isEarlier(than: updatedAt) {
            position = updatedAt
            skip = 0
            phase += 1
        } else {
            skip += rows.count
        }
        guard var stored = DeltaToken.last(of: rows.filter { !futureRows.contains($0) }) else { return }
        // This order never requests rows without `updatedAt`.
        stored.isFirstPull = token?.isFirstPull ?? true
        if token.map({ $0.precedes(stored) }) ?? true { token = stored }
    }
}
