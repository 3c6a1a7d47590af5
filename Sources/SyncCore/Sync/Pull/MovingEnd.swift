// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Ends an incremental pull of a table that changes faster than it is read, which has no empty page.
///
/// A round has received all rows that were changed before it began. A row that changes during a round moves behind the rows of
/// that round, so the pull goes on for some rounds. The next pull continues after them.
struct MovingEnd {
    private static let maxRounds = 3
    /// How many seconds the clock that gives rows their times can be ahead of the one that gives responses their date.
    private static let maxSkew: Int64 = 300

    private var roundBeganAt: Timestamp?
    private var rounds = 0

    /// Whether the pull ends.
    var isReached: Bool { rounds >= Self.maxRounds }

    /// Records a page. One without the server's time is not counted: the device's clock can be behind the rows.
    mutating func record(_ rows: [PulledRow], at time: PageTime) {
        guard let server = time.server else { return }
        // The first page was read before its response was sent. A row that was changed later has changed during the round.
        let began = roundBeganAt ?? server
        roundBeganAt = began
        let (limit, skewedLimit) = (
            began.advanced(by: .seconds(1)), began.advanced(by: .seconds(1 + Self.maxSkew))
        )
        let hasNewChange = rows.lazy.compactMap(\.item.system.updatedAt).contains { change in
            if change.seconds <= server.seconds { return limit.isEarlier(than: change) }
            return change.seconds <= server.seconds + Self.maxSkew && skewedLimit.isEarlier(than: change)
        }
        guard hasNewChange else { return }
        roundBeganAt = server
        rounds += 1
    }
}
