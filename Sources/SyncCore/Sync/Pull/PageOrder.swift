// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// An order in which the rows of a query are read page by page.
protocol PageOrder: Sendable {
    /// The query for the next page, without its limit.
    func nextPage(of query: TableQuery) -> TableQuery

    /// Records a page that has rows.
    mutating func advance(over rows: [PulledRow], at time: PageTime)

    /// Records that there is nothing more of what was asked for.
    ///
    /// - Returns: whether there is something else to ask for.
    mutating func advanceOverEnd() -> Bool

    /// Whether the rows asked for now lie beside the order, so that their end is not the end of the query.
    var isAside: Bool { get }

    /// Goes up whenever rows that have come are asked for again on purpose.
    var phase: Int { get }

    /// The last row stored, in the order of `updatedAt` and id.
    var token: DeltaToken? { get }

    /// Whether the rows can be asked for in another way when the server refuses the present one.
    var hasAlternative: Bool { get }

    /// Takes that other way.
    mutating func advanceOverRefusal()
}

extension PageOrder {
    var isAside: Bool { false }
    var phase: Int { 0 }
    var token: DeltaToken? { nil }
    var hasAlternative: Bool { false }
    mutating func advanceOverRefusal() {}
    mutating func advanceOverEnd() -> Bool { false }
}

/// When a page was answered.
struct PageTime: Sendable {
    /// By the server's clock; by the client's when the server did not say.
    private let date: Timestamp
    /// The later of both clocks; `nil` when the server did not say.
    let latest: Timestamp?

    init(answer: Timestamp?, now: Timestamp) {
        date = answer ?? now
        latest = answer.map { max($0, now) }
    }

    /// Whether no row can get this `updatedAt` any more.
    func isPast(_ updatedAt: Timestamp) -> Bool { updatedAt.advanced(by: .seconds(1)).isEarlier(than: date) }
}

/// By id: rows that come and go meanwhile shift nothing.
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

/// In the query's own order, by counting rows.
struct OffsetOrder: PageOrder {
    private var received = 0

    func nextPage(of query: TableQuery) -> TableQuery { query.offset(query.offset + received) }

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
