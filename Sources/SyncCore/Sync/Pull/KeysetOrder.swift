// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Reads by `updatedAt` and id, after the last row received.
///
/// Three cases can leave rows before that position. They are handled by reading one instant by id alone, where rows that
/// change during the pull do not shift the others:
/// - A server that shows fewer digits than it stores returns the rows of the last instant again. All rows of
///   the instant are then read, and the pull continues one shown digit later: if `.123` is shown for
///   `.1234567`, it continues at `.124`.
/// - A server that sorts by `updatedAt` only returns the rows of one instant in any order. All rows of the instant are read.
/// - While the server's clock is not past the last instant, rows up to the last id can still get the same `updatedAt`. They
///   are requested after the first later row. If there is no later row, the next pull reads the instant again.
struct KeysetOrder: PageOrder {
    private indirect enum Position: Sendable {
        /// All rows, including those without `updatedAt`.
        case start
        /// The rows of an instant and later.
        case from(Timestamp, rereading: OpenInstant? = nil)
        /// The rows after the token's row.
        case after(DeltaToken)
        /// The rows of one instant, by id.
        case inside(InstantPages, then: Position)
        /// The rows without `updatedAt`, by id.
        case undated(after: String, then: Position)
    }

    /// An `updatedAt` that new rows could still have when it was read. It is read again.
    private struct OpenInstant: Sendable {
        let updatedAt: Timestamp
        /// Only rows up to this id can have been missed; `nil` when all can.
        var upTo: String?
    }

    /// The rows of one instant between two ids.
    private struct InstantPages: Sendable {
        let updatedAt: Timestamp
        var after: String?
        var upTo: String?
        /// Whether no further row could get the instant when these rows were requested.
        let isClosed: Bool
    }

    private(set) var phase = 0
    private var position: Position
    private var skip = 0
    private var futureRows = FutureRows()
    private var lastStored: DeltaToken?
    /// The token of the page after an instant that is being read again; it is stored when that is finished.
    private var nextToken: DeltaToken?
    /// Whether rows without `updatedAt` are requested too: the first pull does so until it knows where the server sorts
    /// them, or has ended.
    private var includesUndated: Bool
    /// How many rows the first page had, if none of them had an `updatedAt`.
    private var undatedFirstPageCount = 0
    private(set) var section = 0
    /// Whether the token no longer moves, because rows were skipped that the server has left out.
    private var isTokenKept = false
    private var keptToken: DeltaToken?
    /// Whether the next pull requests the rows without `updatedAt` again, for the same reason.
    private var repeatsUndated = false

    init(token: DeltaToken?, overlap: Duration) {
        lastStored = token
        includesUndated = token?.isFirstPull ?? true
        position =
            switch token {
            case nil: .start
            case let token? where overlap > .zero: .from(token.updatedAt.advanced(by: .zero - overlap))
            case let token?:
                switch token.instant {
                case .open: .from(token.updatedAt)
                case .closed: .after(token)
                case .complete: .from(token.updatedAt.advancedByShownDigit)
                }
            }
    }

    var isOnDetour: Bool {
        switch position {
        case .inside, .undated: true
        case .start, .from, .after: false
        }
    }

    mutating func skipOnDetour(_ count: Int) {
        // Rows that leave the instant meanwhile shift the others, so that some may be missed.
        if case .undated = position {
            repeatsUndated = true
        } else if !isTokenKept {
            (isTokenKept, keptToken) = (true, token)
        }
        skip += count
    }

    var token: DeltaToken? {
        if isTokenKept { return keptToken }
        var token = lastStored
        token?.isFirstPull = includesUndated || repeatsUndated
        return token
    }

    func nextPage(of query: TableQuery) -> TableQuery {
        switch position {
        case .start:
            return inOrder(query)
        case .from(let updatedAt, _):
            return inOrder(query.where(orUndated(.updatedAt(.greaterOrEqual, updatedAt))))
        case .after(let row):
            let later = Filter.updatedAt(.greater, row.updatedAt)
            let sameInstant = Filter.all([.updatedAt(.equal, row.updatedAt), .id(.greater, row.id)])
            return inOrder(query.where(orUndated(.any([later, sameInstant]))))
        case .inside(let pages, _):
            var page = query.where(.updatedAt(.greaterOrEqual, pages.updatedAt))
                .where(.updatedAt(.less, pages.updatedAt.advancedByShownDigit))
            if let after = pages.after { page = page.where(.id(.greater, after)) }
            if let upTo = pages.upTo { page = page.where(.id(.lessOrEqual, upTo)) }
            return page.order(by: "id").offset(skip)
        case .undated(let id, _):
            return query.where(.isUndated).where(.id(.greater, id)).order(by: "id").offset(skip)
        }
    }

    private func inOrder(_ query: TableQuery) -> TableQuery {
        query.order(by: "updatedAt").order(by: "id").offset(skip)
    }

    private func orUndated(_ filter: Filter) -> Filter {
        includesUndated ? .any([filter, .isUndated]) : filter
    }

    mutating func advance(over rows: [PulledRow], at time: PageTime) {
        let lastID = rows.last(where: \.hasUsableID)?.item.id
        switch (position, lastID) {
        case (.inside(var pages, let then), let lastID?):
            pages.after = lastID
            skip = 0
            position = .inside(pages, then: then)
            if pages.upTo?.hasSameBytes(as: lastID) == true { _ = advanceOverEnd(isEmpty: false) }
        case (.undated(_, let then), let lastID?):
            position = .undated(after: lastID, then: then)
            skip = 0
        case (.inside, nil), (.undated, nil):
            skip(over: rows)
        case (.start, _), (.from, _), (.after, _):
            advanceInOrder(over: rows, at: time)
            readUndated(after: rows)
        }
    }

    private mutating func advanceInOrder(over rows: [PulledRow], at time: PageTime) {
        futureRows.record(rows, at: time)
        // The maximum, not the last row: a server that hides digits orders the rows of one shown instant by them.
        guard var reached = DeltaToken.last(of: rows), !isBefore(reached) else {
            if !includesUndated || !rows.contains(where: \.isUndated) { skip(over: rows) }
            return
        }
        if case .start = position, skip > 0 {
            // Rows that were without `updatedAt` until now have shifted the others: all rows with one are requested anew.
            (position, skip) = (.from(.earliest), 0)
            section += 1
            return phase += 1
        }
        if case .after(let row) = position, !row.precedes(reached) {
            return read(row.updatedAt, isClosed: row.instant == .closed || time.isPast(row.updatedAt))
        }
        reached.instant = time.isPast(reached.updatedAt) ? .closed : .open
        move(to: &reached, over: rows)
        guard let row = DeltaToken.last(of: rows.filter { !futureRows.contains($0) }),
            lastStored.map({ $0.precedes(row) }) ?? true
        else { return }
        store(row, reached: reached, at: time)
    }

    private mutating func skip(over rows: [PulledRow]) {
        if skip == 0 { phase += 1 }
        skip += rows.count
    }

    /// Whether the row is before all rows requested.
    private func isBefore(_ row: DeltaToken) -> Bool {
        switch position {
        case .from(let updatedAt, _): row.updatedAt.isEarlier(than: updatedAt)
        case .after(let position): row.updatedAt.isEarlier(than: position.updatedAt)
        default: false
        }
    }

    /// Moves to the last row of a page. If the previous instant was open, it is read again first.
    private mutating func move(to row: inout DeltaToken, over rows: [PulledRow]) {
        skip = 0
        var open: OpenInstant?
        switch position {
        case .after(let last) where last.updatedAt.isSameInstant(as: row.updatedAt):
            row.instant = last.instant
        case .after(let last):
            if last.instant == .closed { completeToken(at: last.updatedAt) }
            if last.instant == .open { open = OpenInstant(updatedAt: last.updatedAt, upTo: last.id) }
        case .from(_, let instant):
            open = instant
        default: break
        }
        position = .after(row)
        if !rows.areSortedByID(at: row.updatedAt) { read(row.updatedAt, isClosed: row.instant == .closed) }
        guard let open else { return }
        let isClosed = rows.contains { !futureRows.contains($0) && $0.isUpdated(after: open.updatedAt) }
        read(InstantPages(updatedAt: open.updatedAt, upTo: open.upTo, isClosed: isClosed), then: position)
    }

    /// Reads all rows of the instant, then the later ones.
    private mutating func read(_ updatedAt: Timestamp, isClosed: Bool) {
        let open = isClosed ? nil : OpenInstant(updatedAt: updatedAt)
        read(
            InstantPages(updatedAt: updatedAt, isClosed: isClosed),
            then: .from(updatedAt.advancedByShownDigit, rereading: open))
    }

    private mutating func read(_ pages: InstantPages, then later: Position) {
        position = .inside(pages, then: later)
        skip = 0
        phase += 1
        section += 1
    }

    /// Makes the row the delta token.
    private mutating func store(_ row: DeltaToken, reached: DeltaToken, at time: PageTime) {
        var row = row
        let isReached = row.updatedAt.isSameInstant(as: reached.updatedAt)
        row.instant = isReached ? reached.instant : time.isPast(row.updatedAt) ? .closed : .open
        if case .inside = position { nextToken = row } else { lastStored = row }
    }

    private mutating func completeToken(at updatedAt: Timestamp) {
        if lastStored?.updatedAt.isSameInstant(as: updatedAt) == true { lastStored?.instant = .complete }
    }

    /// Records that no row can get the last instant any more. An empty page completes it. After another last page, the next pull
    /// continues behind its last row.
    private mutating func endLastInstant(at row: DeltaToken, isEmpty: Bool) {
        if isEmpty { return completeToken(at: row.updatedAt) }
        guard let last = lastStored, last.instant == .open, last.updatedAt.isSameInstant(as: row.updatedAt)
        else { return }
        lastStored = row
    }

    /// As soon as a page has a row without `updatedAt`, all of them are read by id: a server that sorts by `updatedAt` only
    /// returns them in any order.
    private mutating func readUndated(after rows: [PulledRow]) {
        guard includesUndated, rows.contains(where: \.isUndated) else { return }
        if case .start = position {
            undatedFirstPageCount = rows.count
            position = .from(.earliest)
        }
        position = .undated(after: "", then: position)
        // The rows skipped so far are no longer among those that are requested afterwards.
        skip = 0
        phase += 1
        section += 1
    }

    mutating func advanceOverEnd(isEmpty: Bool) -> Bool {
        switch position {
        case .inside(let pages, let then):
            position = then
            skip = 0
            phase += 1
            section += 1
            if case .inside = then { return true }
            if let nextToken { lastStored = nextToken }
            nextToken = nil
            if isEmpty, pages.isClosed, pages.upTo == nil { completeToken(at: pages.updatedAt) }
            return true
        case .undated(_, let then):
            includesUndated = false
            position = then
            skip = 0
            section += 1
            return true
        case .after(let row):
            if row.instant == .closed { endLastInstant(at: row, isEmpty: isEmpty) }
        case .start where skip > 0:
            // Rows that were deleted have shifted the others: all rows with `updatedAt` are requested anew.
            (position, skip) = (.from(.earliest), 0)
            phase += 1
            return true
        case .start, .from: break
        }
        includesUndated = false
        return false
    }

    mutating func prepareToEnd() {
        guard includesUndated else { return }
        position = .undated(after: "", then: position)
        phase += 1
    }

    /// Some servers cannot filter by null. If they sort nulls first, the rows are read without that filter.
    var hasAlternative: Bool {
        switch position {
        case .undated: true
        case .from, .after: includesUndated
        case .start, .inside: false
        }
    }

    mutating func advanceOverRefusal() {
        includesUndated = false
        guard case .undated(_, let then) = position else { return }
        position = then
        if undatedFirstPageCount > 0 { (position, skip) = (.start, undatedFirstPageCount) }
    }
}

extension PulledRow {
    fileprivate func isUpdated(after instant: Timestamp) -> Bool {
        item.system.updatedAt.map { instant.isEarlier(than: $0) } ?? false
    }
}

extension [PulledRow] {
    /// Whether the rows of the instant are in the order of their ids.
    fileprivate func areSortedByID(at instant: Timestamp) -> Bool {
        lazy.filter { $0.item.system.updatedAt?.isSameInstant(as: instant) ?? false }.map(\.item.id)
            .areAscendingInBytes
    }
}

extension Filter {
    fileprivate static var isUndated: Filter { .nullTest(.column("updatedAt")) }
}

extension Timestamp {
    /// The next instant in the text form with the same number of fraction digits.
    fileprivate var advancedByShownDigit: Timestamp {
        advanced(by: .nanoseconds(Timestamp.unitOfDigit[Int(fractionDigits)]))
    }

    fileprivate static var earliest: Timestamp {
        Timestamp(seconds: representableSeconds.lowerBound) ?? .unixEpoch
    }
}
