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
    /// - Parameter isEmpty: whether an empty page has shown it. A server that calls a page with rows the last one may have
    ///   counted the rows after another client's change.
    /// - Returns: whether there are other rows to request.
    mutating func advanceOverEnd(isEmpty: Bool) -> Bool

    /// Requests the rows without `updatedAt` next, if any, because the pull ends early: see ``MovingEnd``.
    mutating func prepareToEnd()

    /// Whether the pull is on a detour: the end of these rows is not the end of the query.
    var isOnDetour: Bool { get }

    /// Skips rows of a detour that the server has left out of an empty page.
    mutating func skipOnDetour(_ count: Int)

    /// Changes when the next page is not the one behind the last page: a detour begins or ends, or the rows are requested from
    /// the first one on. The end of the last page is then not the end of the rows.
    var section: Int { get }

    /// Whether the rows of a page are in the requested order. Otherwise the last row does not tell which rows remain.
    func isInOrder(_ rows: [PulledRow]) -> Bool

    /// Whether the position is a number of rows, requested with `$skip`.
    var countsRows: Bool { get }

    /// Whether the next page has rows before the query's offset, which are not pulled.
    var isBeforeOffset: Bool { get }

    /// How many rows were received that are before the query's offset, tombstones included.
    var rowsBeforeOffset: Int { get }

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
    func isInOrder(_ rows: [PulledRow]) -> Bool {
        let times = rows.compactMap(\.item.system.updatedAt)
        return zip(times, times.dropFirst()).allSatisfy { !$1.isEarlier(than: $0) }
    }

    var isOnDetour: Bool { false }
    mutating func skipOnDetour(_ count: Int) {}
    var section: Int { 0 }
    var countsRows: Bool { false }
    var isBeforeOffset: Bool { false }
    var rowsBeforeOffset: Int { 0 }
    var phase: Int { 0 }
    var token: DeltaToken? { nil }
    var hasAlternative: Bool { false }
    mutating func advanceOverRefusal() {}
    mutating func prepareToEnd() {}
    mutating func advanceOverEnd(isEmpty: Bool) -> Bool { false }
}

/// When the server read and sent a page, by its own clock.
struct PageTime: Sendable {
    /// When the server sent the response, to the second; `nil` when it did not say.
    let server: Timestamp?
    /// The earliest time at which the server can have read the rows.
    let readAt: Timestamp

    /// Whether no further row can get this `updatedAt`.
    func isPast(_ updatedAt: Timestamp) -> Bool {
        updatedAt.advanced(by: .seconds(1)).isEarlier(than: readAt)
    }
}

/// Reads by id. Rows that are inserted or deleted during the pull do not shift the others.
struct IDOrder: PageOrder {
    private(set) var phase = 0
    private var lastID: String?
    private var skip = 0

    func isInOrder(_ rows: [PulledRow]) -> Bool {
        rows.lazy.filter(\.hasUsableID).map(\.item.id).areAscendingInBytes
    }

    func nextPage(of query: TableQuery) -> TableQuery {
        var page = query
        if let lastID { page = page.where(.id(.greater, lastID)) }
        return page.order(by: "id").offset(skip)
    }

    mutating func advance(over rows: [PulledRow], at time: PageTime) {
        if let id = rows.last(where: \.hasUsableID)?.item.id {
            lastID = id
            skip = 0
        } else {
            if skip == 0 { phase += 1 }
            skip += rows.count
        }
    }
}

/// Reads in the query's own order, with `$skip`. Ties are ordered by id: a server may order them differently for each page.
///
/// The query's offset does not count tombstones. `$skip` does, so the ids of the rows before the offset are read
/// first.
struct OffsetOrder: PageOrder {
    let countsRows = true
    private(set) var phase = 0
    private(set) var rowsBeforeOffset = 0
    /// How many of the rows behind the offset were received.
    private var received = 0
    /// How many more rows, without tombstones, are before the query's offset.
    private var rowsToSkip: Int

    init(offset: Int) { rowsToSkip = offset }

    var isBeforeOffset: Bool { rowsToSkip > 0 }

    /// Any order will do: the rows are counted.
    func isInOrder(_ rows: [PulledRow]) -> Bool { true }

    func nextPage(of query: TableQuery) -> TableQuery {
        var page = query.offset(rowsBeforeOffset + received)
        if isBeforeOffset { page.selection = ["id"] }
        let isTotal = query.orderings.contains { $0.expression == .column("id") }
        return isTotal ? page : page.order(by: "id")
    }

    mutating func advance(over rows: [PulledRow], at time: PageTime) {
        guard isBeforeOffset else { return received += rows.count }
        for row in rows where isBeforeOffset {
            rowsBeforeOffset += 1
            if !row.item.system.deleted { rowsToSkip -= 1 }
        }
        // The rest of the page is requested again.
        if !isBeforeOffset { phase += 1 }
    }
}

extension Filter {
    static func id(_ comparison: Comparison, _ id: String) -> Filter {
        .comparison(comparison, .column("id"), .constant(.text(id)))
    }

    static func updatedAt(_ comparison: Comparison, _ updatedAt: Timestamp) -> Filter {
        .comparison(comparison, .column("updatedAt"), .constant(.date(updatedAt)))
    }
}
