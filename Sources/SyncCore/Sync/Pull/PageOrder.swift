// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// An order in which a pull reads the rows of a query page by page.
protocol PageOrder: Sendable {
    /// Returns the query for the next page, without a limit.
    func nextPage(of query: TableQuery) -> TableQuery

    /// Records a page that is not empty.
    mutating func advance(over rows: [PulledRow], at time: PageTime)

    /// Records that the rows requested so far have ended.
    ///
    /// - Returns: whether there are other rows to request.
    mutating func advanceOverEnd() -> Bool

    /// Whether the pull is on a detour: the end of these rows is not the end of the query.
    var isOnDetour: Bool { get }

    /// Changes when rows are requested again intentionally, so that repetition is not an error.
    var phase: Int { get }

    /// The last row received, in the order of `updatedAt` and id.
    var token: DeltaToken? { get }

    /// Whether there is another query to use when the server refuses the current one.
    var hasAlternative: Bool { get }

    /// Switches to the other query.
    mutating func advanceOverRefusal()
}

extension PageOrder {
    var isOnDetour: Bool { false }
    var phase: Int { 0 }
    var token: DeltaToken? { nil }
    var hasAlternative: Bool { false }
    mutating func advanceOverRefusal() {}
    mutating func advanceOverEnd() -> Bool { false }
}

/// When the server sent a page.
struct PageTime: Sendable {
    /// The server's clock; `nil` when the server did not say.
    let server: Timestamp?
    /// The server's clock; the client's when the server did not say.
    private let date: Timestamp

    init(server: Timestamp?, now: Timestamp) {
        self.server = server
        date = server ?? now
    }

    /// Whether no further row can get this `updatedAt`.
    func isPast(_ updatedAt: Timestamp) -> Bool { updatedAt.advanced(by: .seconds(1)).isEarlier(than: date) }
}

/// Reads by id. Rows that are inserted or deleted during the pull do not shift the others.
struct IDOrder: PageOrder {
    private(set) var phase = 0
    private var lastID: String?
    private var skip = 0

    func nextPage(of query: TableQuery) -> TableQuery {
        var page = query
        if let lastID { page = page.where(.id(.greater, lastID)) }
        return page.order(by: "id").offset(skip)
    }

    mutating func advance(over rows: [PulledRow], at time: PageTime) {
        if let id = rows.last(where: \.hasID)?.item.id {
            lastID = id
            skip = 0
        } else {
            if skip == 0 { phase += 1 }
            skip += rows.count
        }
    }
}

/// Reads in the query's own order, with `$skip`. Ties are ordered by id: a server may order them differently for each page.
struct OffsetOrder: PageOrder {
    private var received = 0

    func nextPage(of query: TableQuery) -> TableQuery {
        let page = query.offset(query.offset + received)
        let isTotal = query.orderings.contains { $0.expression == .column("id") }
        return isTotal ? page : page.order(by: "id")
    }

    mutating func advance(over rows: [PulledRow], at time: PageTime) { received += rows.count }
}

extension Filter {
    static func id(_ comparison: Comparison, _ id: String) -> Filter {
        .comparison(comparison, .column("id"), .constant(.text(id)))
    }

    static func updatedAt(_ comparison: Comparison, _ updatedAt: Timestamp) -> Filter {
        .comparison(comparison, .column("updatedAt"), .constant(.date(updatedAt)))
    }
}
