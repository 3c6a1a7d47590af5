// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Where a pull is: which page to ask for next, and when it is through. Pure; it does no input or output.
struct PullCursor: Sendable {
    /// How the pages follow each other.
    enum Order: Sendable, Hashable {
        /// By `updatedAt` and id, after the delta token.
        case keyset
        /// By `updatedAt`, from the delta token on, as the original client did.
        case skip
        /// By id: a pull without query ID and without an order of its own.
        case id
        /// In the query's own order.
        case offset
    }

    let query: TableQuery
    let order: Order
    let overlap: Duration
    /// The last row stored, in the order of `updatedAt` and id.
    private(set) var token: DeltaToken?
    private(set) var isDone = false

    private var pageSize: Int
    private var received = 0
    private var skip = 0
    private var lastID: String?
    /// Where this pull asks from: the token, or before it by the overlap.
    private var position: DeltaToken?
    /// The token moves to no row dated later; `nil` until a row from the future has come.
    private var latestDate: Timestamp?
    /// The length of the page before, when it was short.
    private var shortPage: Int?
    /// The page size that the server has been seen to fill.
    private var fullPageSize: Int?

    init(query: TableQuery, order: Order, settings: PullSettings, token: DeltaToken?) {
        self.query = query
        self.order = order
        self.token = token
        overlap = settings.overlap
        pageSize = settings.pageSize
        fullPageSize = token?.fullPageSize
        position = token
        if overlap > .zero, let token {
            let earlier = token.updatedAt.advanced(by: .zero - overlap)
            position = DeltaToken(updatedAtText: "\(earlier)", updatedAt: earlier, id: "")
        }
        isDone = query.limit == 0
    }

    /// The query for the next page.
    var nextPage: TableQuery {
        var page = query
        page.limit = min(pageSize, (query.limit ?? .max) - received)
        switch order {
        case .keyset:
            if let position { page = page.where(Self.rows(after: position)) }
            page = page.order(by: "updatedAt").order(by: "id").offset(skip)
        case .skip:
            page = page.where(.column("updatedAt") >= (position?.updatedAt ?? Timestamp.unixEpoch))
            page = page.order(by: "updatedAt").offset(skip)
        case .id:
            if let lastID { page = page.where(.column("id") > lastID) }
            page = page.order(by: "id")
        case .offset:
            page.offset = query.offset + received
        }
        return page
    }

    /// Takes note of the page that came.
    ///
    /// - Parameter date: when the server answered, to the second, if it told. Once a row has come that is dated later,
    ///   no row dated later moves the token: this pull goes on behind it, and what changes before it is for the next.
    mutating func advance(over rows: [PulledRow], answeredAt date: Timestamp?) {
        if latestDate == nil, rows.contains(where: { $0.isDated(after: date) }) { latestDate = date }
        received += rows.count
        guard let last = rows.last else { return isDone = true }
        switch order {
        case .keyset:
            advanceKeyset(over: rows)
            raiseToken(to: rows.last { $0.token != nil && !$0.isDated(after: latestDate) })
        case .skip:
            advanceSkip(over: rows)
            raiseToken(to: Self.latest(of: rows.filter { !$0.isDated(after: latestDate) }))
        case .id: lastID = last.item.id
        case .offset: break
        }
        learnPageSize(from: rows.count)
        if let limit = query.limit, received >= limit { isDone = true }
    }

    /// A server that shows fewer digits than it keeps answers the rows at the boundary again and again. Such a
    /// page does not come past the position; the pull then goes on inside the boundary with `$skip`, until a
    /// later instant appears.
    private mutating func advanceKeyset(over rows: [PulledRow]) {
        let reached = rows.last(where: { $0.token != nil })
        let isBeyond =
            if let position, let reached {
                skip == 0 ? position.precedes(reached) : position.isEarlier(than: reached)
            } else {
                reached != nil
            }
        if isBeyond, let next = reached?.token {
            position = next
            skip = 0
        } else {
            skip += rows.count
        }
    }

    private mutating func advanceSkip(over rows: [PulledRow]) {
        let latest = Self.latest(of: rows)
        if let latest, let next = latest.token, position.map({ $0.isEarlier(than: latest) }) ?? true {
            position = next
            skip = 0
        } else {
            skip += rows.count
        }
    }

    private static func latest(of rows: [PulledRow]) -> PulledRow? {
        rows.filter { $0.token != nil }.max { $0.token?.precedes($1) ?? false }
    }

    private mutating func raiseToken(to row: PulledRow?) {
        guard let row, token.map({ $0.precedes(row) }) ?? true else { return }
        token = row.token
    }

    /// A short page may come from a server that caps its pages: its length is then the page size to ask for. A full
    /// page shows that the size is honoured, and from then on a shorter one is the last.
    private mutating func learnPageSize(from count: Int) {
        if let cap = shortPage, count > 0 {
            pageSize = min(pageSize, max(cap, count))
            shortPage = nil
        }
        if count >= pageSize {
            fullPageSize = pageSize
        } else if fullPageSize == pageSize {
            isDone = true
        } else {
            shortPage = count
        }
        token?.fullPageSize = fullPageSize
    }

    private static func rows(after token: DeltaToken) -> Filter {
        .column("updatedAt") > token.updatedAt
            || (.column("updatedAt") == token.updatedAt && .column("id") > token.id)
    }
}

extension DeltaToken {
    /// Whether the row was changed at a later instant than this one.
    fileprivate func isEarlier(than row: PulledRow) -> Bool {
        row.item.system.updatedAt.map(updatedAt.isEarlier) ?? false
    }
}

extension PulledRow {
    /// Whether the row claims to have been changed after that second.
    fileprivate func isDated(after date: Timestamp?) -> Bool {
        guard let date, let updatedAt = item.system.updatedAt else { return false }
        return updatedAt.seconds > date.seconds
    }
}
