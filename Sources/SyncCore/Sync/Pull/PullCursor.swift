// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Which page a pull asks for next, and when it has ended. Pure; it does no input or output.
///
/// Only an empty page is the end. A short one is not, nor a number of rows: servers cap their pages, change their caps,
/// and filter rows after paging.
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
    private(set) var isDone: Bool
    private(set) var pageSize: Int
    private let maxPageSize: Int
    private var order: any PageOrder
    private var repeatedPages = RepeatedPages()
    /// How many rows have come that are no tombstones: only those count for the query's limit.
    private var livingRows = 0

    init(query: TableQuery, order: Order, settings: PullSettings, token: DeltaToken?) {
        self.query = query
        maxPageSize = settings.pageSize
        pageSize = settings.pageSize
        isDone = query.limit == 0
        self.order =
            switch order {
            case .keyset: KeysetOrder(token: token, overlap: settings.overlap)
            case .skip: UpdatedAtOrder(token: token, overlap: settings.overlap)
            case .id: IDOrder()
            case .offset: OffsetOrder()
            }
    }

    /// The last row stored, in the order of `updatedAt` and id; `nil` for a pull without query ID.
    var token: DeltaToken? { order.token }

    /// The query for the next page.
    var nextPage: TableQuery {
        var page = order.nextPage(of: query)
        page.limit = pageLimit
        return page
    }

    private var pageLimit: Int { min(pageSize, (query.limit ?? .max) - livingRows) }

    /// Records the page that came.
    ///
    /// - Parameters:
    ///   - isLast: whether the server says that nothing follows the page. It is ignored for a page that is as long as
    ///     it was asked to be: servers mean by it that they have nothing more of what was asked for.
    ///   - date: when the server answered, to the second, by its own clock; `nil` when it did not say.
    ///   - now: the client's clock.
    /// - Throws: ``SyncError/Code/pullAborted`` when the page has no row that is new to this pull.
    mutating func advance(
        over rows: [PulledRow], isLast: Bool = false, answeredAt date: Timestamp?, now: Timestamp
    ) throws(SyncError) {
        let isEnd = isLast && rows.count < pageLimit
        pageSize = min(maxPageSize, pageSize * 2)
        guard !rows.isEmpty else { return advanceOverEnd() }
        let (phase, wasAside) = (order.phase, order.isAside)
        order.advance(over: rows, at: PageTime(answer: date, now: now))
        if order.phase != phase {
            repeatedPages = RepeatedPages()
        } else if repeatedPages.hasSeenAll(of: rows) {
            throw SyncError(
                .serverError,
                "The server answered with the same rows again instead of those that follow them.",
                mayRetry: true)
        }
        livingRows += rows.count { $0.isReadable && !$0.item.system.deleted }
        if let limit = query.limit, livingRows >= limit { return isDone = true }
        // The server was not asked yet for what the order goes on with elsewhere.
        if isEnd, order.isAside == wasAside { advanceOverEnd() }
    }

    private mutating func advanceOverEnd() {
        let phase = order.phase
        isDone = !order.advanceOverEnd()
        if order.phase != phase { repeatedPages = RepeatedPages() }
    }

    /// Whether the next page can be asked for in another way: see ``advanceOverRefusal()``.
    var hasAlternative: Bool { order.hasAlternative }

    /// Goes on without what the server refuses to filter by.
    mutating func advanceOverRefusal() { order.advanceOverRefusal() }

    /// Asks for half as many rows, because the page was too long to be read.
    ///
    /// Later pages grow again.
    ///
    /// - Returns: `false` when the page had one row.
    mutating func halvePage() -> Bool {
        guard pageLimit > 1 else { return false }
        pageSize = pageLimit / 2
        return true
    }
}
