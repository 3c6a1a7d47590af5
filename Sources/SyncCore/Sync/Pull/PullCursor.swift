// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Decides which page a pull requests next, and when the pull has ended. It does no input or output.
///
/// A short page is not the end, nor is a row count: servers cap their pages, change their caps, and filter
/// rows after paging. The end is an empty page without a link to the next one, a short page that the server calls the last,
/// or the query's limit. A table that changes faster than it is read has no end: see ``MovingEnd``.
struct PullCursor: Sendable {
    /// How the pages follow each other.
    enum Order: Sendable, Hashable {
        /// By `updatedAt` and id, after the delta token.
        case keyset
        /// By `updatedAt` from the delta token on, with `$skip`, as the original client did.
        case skip
        /// By id: a pull whose query has neither a query ID nor an order.
        case id
        /// In the query's own order, with `$skip`.
        case offset
    }

    let query: TableQuery
    private(set) var isDone: Bool
    private(set) var pageSize: Int
    private let maxPageSize: Int
    /// Whether the rows are read in the order of `updatedAt`, after a token.
    private let isIncremental: Bool
    /// Whether the rest is read with `$skip` and no token, because the position of the rows behind the last page is unknown: a
    /// page was not in the requested order, or was empty, although others can follow.
    private var isSkipping = false
    /// How many rows behind the order's position are skipped: those that were received, and those that the server left out.
    private var skipped = 0
    private var emptyPages = 0
    /// A user can see few rows of a large table. The links of these pages lead forward, but can be without end.
    private static let maxEmptyPages = 10_000
    private var order: any PageOrder
    private var repeatedPages = RepeatedPages()
    private var movingEnd = MovingEnd()
    /// How many rows were received that are not tombstones: only those count for the query's limit.
    private var liveRowCount = 0

    init(query: TableQuery, order: Order, settings: PullSettings, token: DeltaToken?) {
        self.query = query
        maxPageSize = settings.pageSize
        pageSize = settings.pageSize
        isDone = query.limit == 0
        isIncremental = order == .keyset || order == .skip
        self.order =
            switch order {
            case .keyset: KeysetOrder(token: token, overlap: settings.overlap)
            case .skip: UpdatedAtOrder(token: token, overlap: settings.overlap)
            case .id: IDOrder()
            case .offset: OffsetOrder(offset: query.offset)
            }
    }

    /// The last row received, in the order of `updatedAt` and id; `nil` for a pull without query ID.
    var token: DeltaToken? { order.token }

    /// The query for the next page.
    var nextPage: TableQuery {
        var page = order.nextPage(of: query)
        page.limit = pageLimit
        page.offset += skipped
        return page
    }

    private var pageLimit: Int {
        isBeforeOffset ? pageSize : min(pageSize, (query.limit ?? .max) - liveRowCount)
    }

    /// Whether the next page has rows before the query's offset, which are not pulled: see ``OffsetOrder``.
    var isBeforeOffset: Bool { order.isBeforeOffset }

    /// Returns how many of the matching rows can be between the query's offset and its limit. Which of them are tombstones is
    /// known after they were received.
    ///
    /// - Parameter count: the number of matching rows.
    func countInWindow(_ count: Int) -> Int {
        min(max(0, count - max(query.offset, order.rowsBeforeOffset)), query.limit ?? .max)
    }

    /// Records a received page.
    ///
    /// - Parameters:
    ///   - next: what the server says about the next page. That there is none is ignored for a page of the requested length:
    ///     some servers say so of every page that has all the rows requested.
    ///   - time: when the server read the rows and sent the response.
    /// - Throws: ``SyncError/Code/serverError`` when every row of the page was received before in the same state, or the server
    ///   returns empty pages without end.
    mutating func advance(
        over rows: [PulledRow], next: NextPage = .unknown, at time: PageTime
    ) throws(SyncError) {
        let isFull = rows.count >= pageLimit
        pageSize = min(maxPageSize, pageSize * 2)
        guard !rows.isEmpty else {
            guard let count = rowsLeftOut(before: next) else { return advanceOverEnd(isEmpty: true) }
            return try advanceOverEmptyPage(leavingOut: count)
        }
        emptyPages = 0
        let phase = order.phase
        let (section, wasBeforeOffset) = (order.section, isBeforeOffset)
        let wasSkipping = isSkipping
        if !order.isOnDetour, isFull || next != .end, !order.isInOrder(rows) { isSkipping = true }
        if isSkipping, !order.countsRows {
            skipped += rows.count
        } else {
            order.advance(over: rows, at: time)
        }
        if isSkipping || order.countsRows, isBeforeOffset == wasBeforeOffset {
            skipped += rowsLeftOut(before: next) ?? 0
        }
        if order.phase != phase || isSkipping != wasSkipping {
            repeatedPages = RepeatedPages()
        } else if repeatedPages.hasSeenAll(of: rows) {
            throw SyncError(
                .serverError,
                "The server returned the same rows again instead of the next ones.",
                mayRetry: true)
        }
        liveRowCount += rows.count { $0.isReadable && !$0.item.system.deleted }
        if let limit = query.limit, liveRowCount >= limit { return isDone = true }
        if isIncremental, !isSkipping { movingEnd.record(rows, at: time) }
        if endIfMoving() { return }
        // If the order continues elsewhere, or has reached the offset, the rows there have not been requested yet. Only an empty
        // page shows that all rows of an instant were read.
        if next == .end, !isFull, !order.isOnDetour, order.section == section,
            isBeforeOffset == wasBeforeOffset
        {
            advanceOverEnd(isEmpty: false)
        }
    }

    /// Returns how many rows the server has left out of a page, because the user may not see them; `nil` for none.
    private func rowsLeftOut(before next: NextPage) -> Int? {
        let offset = nextPage.offset
        guard case .skipping(let count) = next, count > offset else { return nil }
        return count - offset
    }

    private mutating func advanceOverEmptyPage(leavingOut count: Int) throws(SyncError) {
        emptyPages += 1
        guard emptyPages < Self.maxEmptyPages else {
            throw SyncError(
                .serverError,
                "The server returned \(emptyPages) empty pages, each with a link to the next one.")
        }
        // A detour has its own end, which would otherwise be taken for the end of the pull.
        guard !order.isOnDetour else { return order.skipOnDetour(count) }
        skipped += count
        isSkipping = true
        repeatedPages = RepeatedPages()
    }

    private mutating func advanceOverEnd(isEmpty: Bool) {
        let phase = order.phase
        isDone = isSkipping || !order.advanceOverEnd(isEmpty: isEmpty)
        if !isDone { _ = endIfMoving() }
        if order.phase != phase { repeatedPages = RepeatedPages() }
    }

    /// Ends the pull before the end of the rows, if they change faster than they are read.
    ///
    /// - Returns: whether the pull has ended, or requests at most those behind all others.
    private mutating func endIfMoving() -> Bool {
        guard movingEnd.isReached, !order.isOnDetour else { return false }
        order.prepareToEnd()
        isDone = !order.isOnDetour
        return true
    }

    /// Whether the next page can be requested by another query: see ``advanceOverRefusal()``.
    var hasAlternative: Bool { !isSkipping && order.hasAlternative }

    /// Continues with a query without the filter that the server refuses.
    mutating func advanceOverRefusal() { order.advanceOverRefusal() }

    /// Halves the page size, because the response was too long. It doubles again with every later page.
    ///
    /// - Returns: `false` when the page had one row.
    mutating func halvePage() -> Bool {
        guard pageLimit > 1 else { return false }
        pageSize = pageLimit / 2
        return true
    }
}
